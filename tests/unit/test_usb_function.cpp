// SPDX-License-Identifier: MIT
#include "usb/function.hpp"

#include "iio_stream/error.hpp"

#include <gtest/gtest.h>

namespace {

using namespace iio_stream;
using namespace iio_stream::usb;

TEST(UsbFunction, AMountHasOne)
{
    const auto one = Function::at("/nowhere");
    EXPECT_EQ(Function::at("/nowhere"), one);
    EXPECT_NE(Function::at("/elsewhere"), one);
}

TEST(UsbFunction, EachDirectionIsThereOnce)
{
    Function function("/nowhere");
    function.expect(Direction::to_host);
    function.expect(Direction::to_board);
    EXPECT_THROW(function.expect(Direction::to_host), Error);
    function.forget(Direction::to_host);
    function.expect(Direction::to_host);
}

TEST(UsbFunction, OneDirectionLocksNothingAndHasNoOtherLater)
{
    Function function("/nowhere");
    function.expect(Direction::to_host);
    function.settle();
    const Turn mine = function.turn();
    const Turn another = function.turn(); // it would not return
    EXPECT_THROW(function.expect(Direction::to_board), Error);
}

TEST(UsbFunction, TwoTakeTurnsAndEachMayGoAndComeAgain)
{
    Function function("/nowhere");
    function.expect(Direction::to_board);
    function.expect(Direction::to_host);
    function.settle();
    EXPECT_EQ(function.turn().mutex()->shared, true);
    function.forget(Direction::to_board);
    EXPECT_EQ(function.turn().mutex()->shared, true);
    function.expect(Direction::to_board);
}

TEST(UsbFunction, WhereAllAreGoneItIsAsNew)
{
    Function function("/nowhere");
    function.expect(Direction::to_board);
    function.expect(Direction::to_host);
    function.settle();
    function.forget(Direction::to_board);
    function.forget(Direction::to_host);
    function.expect(Direction::to_host);
    function.settle();
    EXPECT_EQ(function.turn().mutex()->shared, false);
}

} // namespace
