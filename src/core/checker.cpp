// SPDX-License-Identifier: MIT
#include "core/checker.hpp"

#include <algorithm>
#include <bit>

namespace iio_stream::detail {

Checker::Checker(const Generator& generator, const Format& format)
    : format_(format), generator_(generator)
{
    findings_.jumps.reserve(64);
}

void Checker::note(const std::string& what)
{
    if (findings_.first.empty())
        findings_.first = what + " at sample " + std::to_string(findings_.samples);
}

void Checker::jump_to(std::uint64_t sample)
{
    const auto jump = static_cast<std::int64_t>(sample - expected_);
    if (jump > 0) {
        ++findings_.gaps;
        findings_.lost += static_cast<std::uint64_t>(jump);
        note(std::to_string(jump) + " samples missing");
    } else {
        // A jump back into an earlier gap: the sample was late, not repeated.
        const bool late =
            std::any_of(findings_.jumps.begin(), findings_.jumps.end(), [&](const Jump& g) {
                return g.samples > 0 && sample >= g.at &&
                       sample < g.at + static_cast<std::uint64_t>(g.samples);
            });
        ++(late ? findings_.reorders : findings_.repeats);
        note(std::to_string(-jump) + (late ? " samples late" : " samples repeated"));
    }
    if (findings_.jumps.size() < Findings::kMaxJumps)
        findings_.jumps.push_back(
            {findings_.samples, expected_, jump, findings_.samples - ambiguity(sample)});
    expected_ = sample;
}

// How many samples before a jump to `sample` are the same on both sides of it.
std::uint64_t Checker::ambiguity(std::uint64_t sample) const
{
    std::vector<std::byte> here(format_.sample_bytes), there(format_.sample_bytes);
    std::uint64_t back = 0;
    while (back < kMostAlike && back < std::min({findings_.samples, expected_, sample})) {
        generator_.fill(here, expected_ - back - 1);
        generator_.fill(there, sample - back - 1);
        if (here != there)
            break;
        ++back;
    }
    return back;
}

void Checker::feed(std::span<const std::byte> in)
{
    if (!waiting_.empty()) {
        const std::size_t waited = waiting_.size();
        const std::size_t size = format_.sample_bytes;
        const auto more = in.first(std::min(in.size(), (window() + size - 1) / size * size));
        waiting_.insert(waiting_.end(), more.begin(), more.end());
        const std::size_t done = scan(waiting_, waited);
        if (done < waited) { // still too few: there are no more of them
            waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
            return;
        }
        waiting_.clear();
        in = in.subspan(done - waited);
    }
    const auto rest = in.subspan(scan(in, in.size()));
    waiting_.assign(rest.begin(), rest.end());
}

// A loss makes every later word of the ramp another one, in one bit at least.
bool Checker::tail_is_one_wrong_bit() const
{
    std::vector<std::byte> right(waiting_.size());
    generator_.fill(right, expected_);
    int wrong_bits = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
        wrong_bits += std::popcount(std::to_integer<unsigned>(right[i] ^ waiting_[i]));
    return wrong_bits == 1;
}

void Checker::finish(Tail tail)
{
    if (waiting_.empty())
        return;
    const std::uint64_t offset = findings_.samples,
                        samples = waiting_.size() / format_.sample_bytes;
    if (tail == Tail::of_no_gap && tail_is_one_wrong_bit()) {
        mismatch("wrong data");
        expected_ += samples;
    } else {
        note("samples missing, and too few left to say how many,");
        ++findings_.gaps;
        ++findings_.lost;
        // Where they continue is unknown, and so is what is the same there: at most the bytes of a
        // word.
        if (findings_.jumps.size() < Findings::kMaxJumps)
            findings_.jumps.push_back(
                {offset, expected_, 1, offset - std::min<std::uint64_t>(offset, kMostAlike)});
    }
    findings_.samples += samples;
    waiting_.clear();
}

void Checker::skip(std::uint64_t samples)
{
    finish();
    findings_.samples += samples;
    expected_ += samples;
}

void Checker::mismatch(const std::string& what)
{
    note(what);
    ++findings_.mismatches;
}

// Judges samples until at least `until` bytes are done, or too few are left to locate; returns the
// bytes done.
std::size_t Checker::scan(std::span<const std::byte> in, std::size_t until)
{
    const std::size_t sample_bytes = format_.sample_bytes;
    std::size_t done = 0;
    while (done < until) {
        const std::size_t good = matching(in.subspan(done));
        findings_.samples += good / sample_bytes;
        expected_ += good / sample_bytes;
        done += good;
        const auto rest = in.subspan(done);
        if (done >= until || rest.size() < window())
            break;
        std::uint64_t sample = 0;
        // Past the window, a long sample can be wrong in its place.
        if (locate(rest, sample) && sample != expected_) {
            jump_to(sample);
            continue;
        }
        const bool swap = swapped(rest);
        note(swap ? "channels swapped" : "wrong data");
        ++(swap ? findings_.swaps : findings_.mismatches);
        ++findings_.samples;
        ++expected_;
        done += sample_bytes;
    }
    return done;
}

} // namespace iio_stream::detail
