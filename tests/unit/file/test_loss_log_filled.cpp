// SPDX-License-Identifier: MIT
// Zeros, drops and part boundaries in any order: each sample is where the log of its file places
// it.
#include "file/sigmf/loss_log.hpp"
#include "support/blocks.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <vector>

namespace iio_stream::file {
namespace {

using Random = std::mt19937;

/// A recording by a sink that drops blocks of a stream in which zeros replace lost samples.
class DroppedZeros {
public:
    explicit DroppedZeros(unsigned seed) : random_(seed) { begin(); }

    /// Records or drops the next block, or the next zeros, of the stream.
    void go_on()
    {
        const std::uint64_t samples = 1 + random_() % 900;
        const bool zeros = random_() % 3 == 0;
        BlockInfo info;
        info.bytes = samples * test::kSample;
        info.sequence = zeros ? kUnknown : sequence_++;
        info.position = position_;
        info.sample_index = index_;
        index_ += samples;
        position_ += zeros ? 0 : samples;
        Block filled = std::move(*pool_.take()).fill(info);
        if (random_() % 3 == 0)
            return; // no room
        if (random_() % 5 == 0)
            next_part();
        places_.push_back({log_->samples(), info.sample_index});
        log_->note(filled);
    }

    void check() const
    {
        const Outcome& outcome = log_->outcome();
        for (const auto& [offset, index] : places_) {
            std::uint64_t said = outcome.first_index + offset;
            for (const Loss& loss : outcome.losses)
                if (loss.kind != Loss::Kind::filled && loss.gap.offset_max <= offset) {
                    EXPECT_TRUE(loss.gap.exact());
                    said += loss.gap.lost_min;
                }
            EXPECT_EQ(said, index) << "at " << offset;
        }
        EXPECT_TRUE(outcome.index_exact);
    }

private:
    struct Place {
        std::uint64_t offset, index;
    };

    void begin()
    {
        log_ = std::make_unique<LossLog>();
        log_->begin(test::kSample, 1e6, false, true);
    }

    void next_part()
    {
        check();
        const std::unique_ptr<LossLog> before = std::move(log_);
        begin();
        log_->follow(*before);
        places_.clear();
    }

    Random random_;
    BlockPool pool_ = test::pool_of(1);
    std::unique_ptr<LossLog> log_;
    std::uint64_t index_ = 0, position_ = 0, sequence_ = 0;
    std::vector<Place> places_; ///< the contents of the file, and their indices
};

TEST(LossesFilled, EachSampleHasTheRightIndexWhateverWasDropped)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        DroppedZeros recording(seed);
        for (int i = 0; i < 60; ++i)
            recording.go_on();
        recording.check();
        if (HasFailure())
            break;
    }
}

} // namespace
} // namespace iio_stream::file
