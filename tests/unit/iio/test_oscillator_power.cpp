// SPDX-License-Identifier: MIT
#include "iio/tuning/oscillator_power.hpp"
#include "iio_stream/error.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <memory>

namespace iio_stream::iio {
namespace {

/// A DAC and its front end, whose TX_LO has a powerdown attribute.
class PowerContext final : public Context {
public:
    PowerContext()
    {
        DeviceNode dac{"iio:device0", "cf-ad9361-dds-core-lpc", "", {}, {}};
        dac.channels.push_back({"voltage0", "", true, true, 0, {}, {}});
        DeviceNode phy{"iio:device1", "ad9361-phy", "", {}, {}};
        phy.channels.push_back(
            {"altvoltage1", "TX_LO", true, false, 0, {}, {{"frequency", "f"}, {"powerdown", "p"}}});
        devices_ = {dac, phy};
    }

    bool is_local() const noexcept override { return false; }
    int read(const DeviceNode&, const DeviceNode::Channel*, const DeviceNode::Attribute& attribute,
             std::string& value) const override
    {
        if (attribute.name == "powerdown" && unreadable)
            return EIO;
        value = attribute.name == "powerdown" ? powerdown : "2400000000";
        return 0;
    }
    int write(const DeviceNode&, const DeviceNode::Channel*, const DeviceNode::Attribute&,
              const std::string& value) const override
    {
        ++writes;
        if (error == 0 && !stuck)
            powerdown = value;
        return error;
    }

    mutable std::string powerdown = "1";
    mutable int writes = 0;
    int error = 0;
    bool stuck = false, unreadable = false;
};

class OscillatorPowerTest : public testing::Test {
protected:
    std::unique_ptr<OscillatorPower> open(const std::string& mode = "")
    {
        const Device dac(context_, context_->devices()[0]);
        const FrontEnd front(dac, "local:", "auto", Direction::transmit, {{"voltage0", {}}});
        Options options;
        if (!mode.empty())
            options.set("powerdown", mode);
        return std::make_unique<OscillatorPower>(front, dac.name(), options);
    }
    void set(const std::string& value) { context_->powerdown = value; }
    std::string state() const { return context_->powerdown; }

    std::shared_ptr<PowerContext> context_ = std::make_shared<PowerContext>();
};

TEST_F(OscillatorPowerTest, NothingIsWrittenIfTheStateDoesNotChange)
{
    for (const char* found : {"0", "1"}) {
        set(found);
        const auto power = open();
        power->tune([] {});
        power->begin();
        EXPECT_EQ(power->remark().empty(), state() == "0");
        power->finish({});
        EXPECT_EQ(state(), found);
    }
    EXPECT_EQ(context_->writes, 0);
}

TEST_F(OscillatorPowerTest, AnOscillatorPoweredUpByTheDriverIsPoweredDownAtTheEnd)
{
    const auto power = open();
    power->begin();
    set("0");
    EXPECT_EQ(power->remark(), "");
    power->finish({});
    EXPECT_EQ(state(), "1");
    set("0"); // another program powers it up after the stream
    power->finish({});
    EXPECT_EQ(state(), "0");
}

TEST_F(OscillatorPowerTest, AnOscillatorThatAnotherProgramPowersDownStaysOff)
{
    set("0");
    const auto power = open();
    power->begin();
    set("1");
    power->finish({});
    EXPECT_EQ(state(), "1");
}

TEST_F(OscillatorPowerTest, ChangesByTheStreamsOptionsAreRestored)
{
    for (const char* found : {"0", "1"}) {
        set(found);
        const std::string chosen = std::string(found) == "0" ? "1" : "0";
        const auto power = open();
        power->tune([&] { set(chosen); });
        power->begin();
        EXPECT_EQ(state(), chosen);
        power->finish({});
        EXPECT_EQ(state(), found);
        power->begin(); // another stream of the same sink
        EXPECT_EQ(state(), chosen);
        power->finish({});
        EXPECT_EQ(state(), found);
    }
}

TEST_F(OscillatorPowerTest, TheDestructorRestoresTheStateEvenWithoutAStream)
{
    EXPECT_THROW(open()->tune([&] {
        set("0");
        fail_usage("a later option");
    }),
                 Error);
    EXPECT_EQ(state(), "1");
    {
        const auto power = open();
        power->begin();
        set("0");
    }
    EXPECT_EQ(state(), "1");
    {
        const auto power = open();
        set("0"); // by another program: this sink has never played
    }
    EXPECT_EQ(state(), "0");
}

TEST_F(OscillatorPowerTest, TheStateAtTheStartOfTheStreamIsRestored)
{
    const auto power = open();
    set("0"); // by the program, between opening the sink and its first sample
    power->begin();
    power->finish({});
    EXPECT_EQ(state(), "0");
}

TEST_F(OscillatorPowerTest, OffPowersUpAtTheStartAndLeavesTheOscillatorOn)
{
    const auto power = open("off");
    EXPECT_EQ(state(), "1");
    power->begin();
    EXPECT_EQ(state(), "0");
    power->finish({});
    EXPECT_EQ(state(), "0");
}

TEST_F(OscillatorPowerTest, KeepNeverChangesTheState)
{
    {
        const auto power = open("keep");
        power->tune([&] { set("0"); });
        power->begin();
        EXPECT_EQ(power->remark(), "");
        power->finish({});
    }
    EXPECT_EQ(state(), "0");
    EXPECT_EQ(context_->writes, 0);
}

TEST_F(OscillatorPowerTest, AFailureToRestoreIsAnErrorUnlessThereIsAnEarlierError)
{
    for (const bool stuck : {false, true}) {
        const auto power = open();
        power->begin();
        set("0");
        context_->stuck = stuck;
        context_->error = stuck ? 0 : EACCES;
        try {
            power->finish({});
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.operation(), "restore");
            EXPECT_EQ(error.object(), "ad9361-phy/out_altvoltage1/powerdown");
            EXPECT_EQ(error.code().value(), stuck ? EIO : EACCES);
        }
        set("1");
    }
    const auto power = open();
    power->begin();
    set("0");
    try {
        power->finish(std::make_exception_ptr(Error(Fault::device, ETIMEDOUT, "play", "the DAC")));
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.operation(), "play");
    }
}

// Writing "0" could power up the oscillator.
TEST_F(OscillatorPowerTest, AnOscillatorWithAnUnreadableStateIsNotPoweredUp)
{
    set("0");
    const auto power = open();
    power->begin();
    context_->unreadable = true;
    power->finish({});
    EXPECT_EQ(context_->writes, 0);
}

TEST_F(OscillatorPowerTest, OffRequiresAnOscillator)
{
    const Device phy(context_, context_->devices()[1]);
    const FrontEnd none(phy, "local:", "auto", Direction::transmit, {});
    Options standard, off;
    off.set("powerdown", "off");
    EXPECT_NO_THROW(OscillatorPower(none, "a-dac", standard).begin());
    try {
        OscillatorPower(none, "a-dac", off);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_NE(std::string(error.what()).find("powerdown=off: a-dac has no oscillator"),
                  std::string::npos);
    }
}

} // namespace
} // namespace iio_stream::iio
