// SPDX-License-Identifier: MIT
#include "core/stream/negotiate.hpp"
#include "support/errors.hpp"
#include "support/fake.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::test;
using detail::Plan;
using detail::SinkLink;

Memory heap(const std::string& name = "system")
{
    Memory memory;
    memory.kind = MemoryKind::heap;
    memory.heap = name;
    return memory;
}

Memory udmabuf()
{
    Memory memory;
    memory.kind = MemoryKind::udmabuf;
    return memory;
}

const std::vector<MemoryChoice> kAll{{heap(), ""}, {udmabuf(), ""}, {Memory{}, ""}};

/// The copies that each kind of memory costs an endpoint; negative if the endpoint cannot use that
/// memory.
struct Copies {
    int heap, udmabuf, pages;
    bool attaches = false, maps = true;

    std::optional<Hop> operator()(const MemoryTraits& traits, std::string& why) const
    {
        const MemoryKind kind = traits.memory.kind;
        const int copies = kind == MemoryKind::heap      ? heap
                           : kind == MemoryKind::udmabuf ? udmabuf
                                                         : pages;
        if (copies < 0) {
            why = "cannot use " + traits.memory.name();
            return std::nullopt;
        }
        Hop hop;
        hop.mechanism = copies == 0 ? "direct" : "copied";
        hop.copies = static_cast<unsigned>(copies);
        hop.attached = attaches && traits.attachable && copies == 0;
        hop.cpu = maps && !hop.attached;
        return hop;
    }
};

struct Ends {
    Copies source;
    std::vector<Copies> sinks;
    BlockNeeds needs = {};
    std::string options = {};
};

Plan plan(const Ends& ends, const std::vector<MemoryChoice>& choices = kAll,
          std::size_t block_size = 65536)
{
    const FakeSource source({.needs = ends.needs, .plan = ends.source});
    std::vector<std::unique_ptr<SinkLink>> workers;
    for (std::size_t i = 0; i < ends.sinks.size(); ++i) {
        Uri uri = Uri::parse("null:" + ends.options);
        workers.push_back(std::make_unique<SinkLink>(
            std::make_unique<FakeSink>(FakeSink::Script{.plan = ends.sinks[i]}),
            "sink" + std::to_string(i), detail::SinkLinkOptions::from(uri.options)));
    }
    return detail::negotiate(source, "source", workers, block_size, choices);
}

constexpr Copies kDevice{.heap = 0, .udmabuf = 0, .pages = 1, .attaches = true};
constexpr Copies kDirectFile{.heap = 1, .udmabuf = 0, .pages = 0};
constexpr Copies kCpu{.heap = 0, .udmabuf = 0, .pages = 0};

TEST(Negotiate, DeviceToDeviceUsesAHeap)
{
    const Plan p = plan({kDevice, {kDevice}});
    EXPECT_EQ(p.memory, heap());
    EXPECT_EQ(p.cpu, CpuUse::none); // the CPU does not touch the samples, so nothing is mapped
}

TEST(Negotiate, DeviceToFileUsesMemoryThatBothAccessDirectly)
{
    const Plan p = plan({kDevice, {kDirectFile}});
    EXPECT_EQ(p.memory, udmabuf());
    EXPECT_EQ(p.cpu, CpuUse::mapped);
    ASSERT_EQ(p.route.size(), 2u);
    EXPECT_EQ(p.route[0].from, "source");
    EXPECT_EQ(p.route[0].to, "block");
    EXPECT_EQ(p.route[0].memory, "udmabuf");
    EXPECT_EQ(p.route[0].segments, std::nullopt);
    EXPECT_EQ(p.route[1].from, "block");
    EXPECT_EQ(p.route[1].to, "sink0");
}

TEST(Negotiate, WithoutADeviceOrdinaryPagesAreUsed)
{
    EXPECT_EQ(plan({kCpu, {kCpu}}).memory, Memory{});
    EXPECT_EQ(plan({kCpu, {kCpu, kCpu, kDirectFile}}).memory, Memory{});
    EXPECT_EQ(plan({kCpu, {kCpu, kDevice}}).memory, heap());
}

TEST(Negotiate, TheFewestCopiesOverAllSinksWin)
{
    const Copies only_heap{.heap = 0, .udmabuf = 1, .pages = 1};
    const Copies only_pages{.heap = 1, .udmabuf = 1, .pages = 0};
    EXPECT_EQ(plan({kCpu, {only_heap, only_heap, only_pages}}).memory, heap());
    EXPECT_EQ(plan({kCpu, {only_heap, only_pages, only_pages}}).memory, Memory{});
}

TEST(Negotiate, MemoryThatOneEndpointCannotUseIsExcluded)
{
    const Copies no_heap{.heap = -1, .udmabuf = 0, .pages = 0};
    EXPECT_EQ(plan({kDevice, {kDevice, no_heap}}).memory, udmabuf());
}

TEST(Negotiate, TheDevicesPreferenceComesFirstWithItsReason)
{
    BlockNeeds needs;
    needs.preferred = udmabuf();
    needs.reason = "probed";
    const Plan p = plan({kDevice, {kDevice}, needs});
    EXPECT_EQ(p.memory, udmabuf());
    EXPECT_EQ(p.route[0].reason, "probed");
    needs.preferred = heap("gone"); // an unavailable preference is not an obstacle
    EXPECT_EQ(plan({kDevice, {kDevice}, needs}).memory, heap());
}

TEST(Negotiate, UnavailableMemoryIsNamedIfItCostsACopy)
{
    const std::vector<MemoryChoice> poor{
        {heap(), "open /dev/dma_heap/system: Permission denied"},
        {udmabuf(), "open /dev/udmabuf: No such file or directory"},
        {Memory{}, ""}};
    const Plan p = plan({kDevice, {kDirectFile}}, poor);
    EXPECT_EQ(p.memory, Memory{});
    EXPECT_EQ(p.route[0].copies, 1u);
    EXPECT_NE(p.route[0].reason.find("/dev/dma_heap/system: Permission denied"), std::string::npos);
    EXPECT_NE(p.route[0].reason.find("/dev/udmabuf"), std::string::npos);
    EXPECT_EQ(plan({kCpu, {kCpu}}, poor).route[0].reason, ""); // no copy is needed here
}

TEST(Negotiate, IfNoMemoryIsUsableTheReasonForEachIsNamed)
{
    const Copies none{.heap = -1, .udmabuf = -1, .pages = -1};
    const Error error = error_of([&] { plan({kDevice, {none}}); });
    EXPECT_EQ(error.fault(), Fault::device);
    const std::string text = error.what();
    for (const char* word : {"heap:system: cannot use heap:system", "udmabuf: cannot use udmabuf",
                             "pages: cannot use pages"})
        EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(Negotiate, RequestedMemoryThatCannotBeUsedIsAnErrorWithoutAFallback)
{
    const Copies no_heap{.heap = -1, .udmabuf = 0, .pages = 0};
    const Error error = error_of([&] { plan({no_heap, {kCpu}}, {{heap(), ""}}); });
    EXPECT_EQ(error.fault(), Fault::device);
    EXPECT_NE(std::string(error.what()).find("leave memory= out to get a memory that works"),
              std::string::npos);
}

TEST(Negotiate, BlocksLargerThanAUdmabufUseOtherMemory)
{
    const std::size_t huge = SIZE_MAX / 2 + 1;
    EXPECT_EQ(plan({kDevice, {kDirectFile}}, kAll, huge).memory, heap());
    expect_usage_error(
        [&] {
            plan({kDevice, {kDirectFile}}, {{udmabuf(), ""}}, huge);
        },
        "udmabuf's limit", "smaller blocks");
}

TEST(Negotiate, AConversionHasItsOwnMemoryAndCostsOneCopy)
{
    const Plan p = plan({kDevice, {kDirectFile}, {}, "?convert=cf32_le"});
    EXPECT_EQ(p.memory, heap()); // the file does not get the device's blocks
    ASSERT_EQ(p.route.size(), 3u);
    EXPECT_EQ(p.route[1].mechanism, "convert:cf32_le");
    EXPECT_EQ(p.route[1].copies, 1u);
    EXPECT_EQ(p.route[2].from, "converted");
    EXPECT_EQ(p.cpu, CpuUse::mapped); // the conversion reads the samples
}

// A fake device that works on every machine: some machines have no DMABUFs.
std::optional<Hop> given_to_a_device(const MemoryTraits&, std::string&)
{
    Hop hop;
    hop.mechanism = "dmabuf";
    hop.attached = true;
    return hop;
}

TEST(Negotiate, OneDeviceGetsTheBlocksAndTheOthersGetCopies)
{
    const SinkAt first = fake_sink({.plan = given_to_a_device});
    const SinkAt second = fake_sink({.plan = given_to_a_device});
    const SinkAt file = fake_sink();
    const SourceAt source = fake_source({.total = 50'000});
    const Summary summary = run(config_of(source.uri, {first.uri, second.uri, file.uri}));
    ASSERT_EQ(summary.route.size(), 5u);
    EXPECT_EQ(summary.route[1].from, "block");
    EXPECT_EQ(summary.route[1].copies, 0u);
    EXPECT_EQ(summary.route[2].mechanism, "copy");
    EXPECT_EQ(summary.route[2].copies, 1u);
    EXPECT_EQ(summary.route[2].reason,
              first.uri + " has the blocks, and only one device can have them");
    EXPECT_EQ(summary.route[3].from, "copied");
    EXPECT_EQ(summary.route[3].to, second.uri);
    EXPECT_EQ(summary.route[4].from, "block");
    EXPECT_EQ(first.log->bytes.size(), 200'000u);
    EXPECT_TRUE(second.log->bytes == first.log->bytes);
    EXPECT_TRUE(file.log->bytes == first.log->bytes);
}

TEST(Negotiate, ADeviceThatBlocksReadersGetsACopy)
{
    const auto holds_off = [](const MemoryTraits& traits, std::string& why) {
        auto hop = given_to_a_device(traits, why);
        hop->holds_off = true;
        return hop;
    };
    const SinkAt usb = fake_sink({.plan = holds_off}), dac = fake_sink({.plan = given_to_a_device});
    const Summary summary = run(config_of(fake_source({.total = 5000}).uri, {usb.uri, dac.uri}));
    ASSERT_EQ(summary.route.size(), 4u);
    EXPECT_EQ(summary.route[1].mechanism, "copy");
    EXPECT_EQ(summary.route[2].to, usb.uri);
    EXPECT_EQ(summary.route[3].from, "block");
    EXPECT_EQ(summary.route[3].to, dac.uri);
}

TEST(Negotiate, NoCopyIsPlannedForMemoryThatWasOnlyConsidered)
{
    const Plan p =
        plan({kCpu, {kDevice, kDirectFile, kDirectFile, {.heap = 3, .udmabuf = 3, .pages = 0}}});
    EXPECT_EQ(p.memory, Memory{});
    for (const Hop& hop : p.route)
        EXPECT_NE(hop.mechanism, "copy");
}

TEST(Negotiate, AnEndpointsRemarkIsShownInTheRoute)
{
    const auto remark = [](const char* text) {
        return [text](BlockPool&, std::string& why) {
            why = text;
            return true;
        };
    };
    FakeSource::Script script{.total = 5000};
    script.prepare = remark("slow source");
    const SourceAt source = fake_source(std::move(script));
    std::vector<std::string> sinks;
    for (const char* text : {"slow converted", "", "slow"})
        sinks.push_back(fake_sink({.prepare = remark(text)}).uri);
    sinks[0] += "?convert=cf32_le";
    const Summary summary = run(config_of(source.uri, sinks));
    ASSERT_EQ(summary.route.size(), 5u);
    EXPECT_EQ(summary.route[0].reason, "slow source");
    EXPECT_EQ(summary.route[1].reason, "convert= was given");
    EXPECT_EQ(summary.route[2].reason, "slow converted");
    EXPECT_EQ(summary.route[3].reason, "");
    EXPECT_EQ(summary.route[4].reason, "slow");
}

TEST(Negotiate, ASourceThatIsNotLiveGetsItsBlocksBeforeTheSinksAreReady)
{
    const SourceAt source = fake_source({.total = 5000});
    std::uint64_t submitted = 0;
    int rounds = 0;
    const SinkAt sink = fake_sink({.prepare = [&](BlockPool&, std::string& why) {
        submitted = source.log->submitted;
        why = "not the first time";
        return ++rounds == 2; // refused once: everything starts again
    }});
    const Summary summary = run(config_of(source.uri, {sink.uri}));
    EXPECT_FALSE(summary.error);
    EXPECT_EQ(submitted, 2u * 8); // all blocks of the pool, each time
    EXPECT_EQ(sink.log->bytes, ramp(0, 5000));
}

} // namespace
