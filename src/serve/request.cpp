// SPDX-License-Identifier: MIT
#include "serve/request.hpp"

#include <charconv>
#include <utility>
#include <vector>

namespace iio_stream::serve {

namespace {

using Words = std::vector<std::string_view>;

constexpr std::size_t kMostWords = 8; // WRITE has the longest lines, with six words

/// The kinds of words that follow a verb.
enum class Shape { alone, number, device, device_number, open, attribute, trigger, set };

struct Syntax {
    std::string_view word;
    Verb verb;
    Shape shape;
};

constexpr Syntax kSyntax[] = {
    {"HELP", Verb::help, Shape::alone},
    {"EXIT", Verb::exit, Shape::alone},
    {"QUIT", Verb::exit, Shape::alone},
    {"VERSION", Verb::version, Shape::alone},
    {"PRINT", Verb::print, Shape::alone},
    {"ZPRINT", Verb::zprint, Shape::alone},
    {"TIMEOUT", Verb::timeout, Shape::number},
    {"OPEN", Verb::open, Shape::open},
    {"CLOSE", Verb::close, Shape::device},
    {"READ", Verb::read, Shape::attribute},
    {"WRITE", Verb::write, Shape::attribute},
    {"READBUF", Verb::readbuf, Shape::device_number},
    {"WRITEBUF", Verb::writebuf, Shape::device_number},
    {"GETTRIG", Verb::gettrig, Shape::device},
    {"SETTRIG", Verb::settrig, Shape::trigger},
    {"SET", Verb::set_buffers, Shape::set},
};

// Returns whether `text` is the word `capitals`, entirely in upper case or entirely in lower case.
bool is_word(std::string_view text, std::string_view capitals)
{
    if (text == capitals)
        return true;
    if (text.size() != capitals.size())
        return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char small = capitals[i] == '_' ? '_' : static_cast<char>(capitals[i] - 'A' + 'a');
        if (text[i] != small)
            return false;
    }
    return true;
}

Words words_of(std::string_view line)
{
    constexpr std::string_view kBlank = " \t\r\n";
    Words words;
    while (words.size() <= kMostWords) {
        line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
        if (line.empty())
            break;
        const std::size_t end = std::min(line.find_first_of(kBlank), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

/// Reads the words after the verb, one after the other.
class Rest {
public:
    explicit Rest(const Words& words) : words_(words) {}

    bool empty() const { return next_ == words_.size(); }
    bool at_last() const { return next_ + 1 == words_.size(); }
    bool take(std::string& text)
    {
        if (empty())
            return false;
        text = words_[next_++];
        return true;
    }
    bool take(std::uint64_t& number)
    {
        if (empty())
            return false;
        const std::string_view word = words_[next_++];
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        return error == std::errc() && end == word.data() + word.size();
    }
    bool take_word(std::string_view capitals)
    {
        const bool found = !empty() && is_word(words_[next_], capitals);
        next_ += found ? 1 : 0;
        return found;
    }

private:
    const Words& words_;
    std::size_t next_ = 1;
};

bool take_owner(Rest& rest, Request& request)
{
    if (rest.take_word("INPUT"))
        request.owner = Owner::input;
    else if (rest.take_word("OUTPUT"))
        request.owner = Owner::output;
    else if (rest.take_word("BUFFER"))
        request.owner = Owner::buffer;
    else if (rest.take_word("DEBUG"))
        request.owner = Owner::debug;
    const bool of_channel = request.owner == Owner::input || request.owner == Owner::output;
    return !of_channel || rest.take(request.channel);
}

// Parses READ DEVICE [OWNER] [NAME], or WRITE DEVICE [OWNER] [NAME] BYTES. BYTES is the length of
// the value that follows the line.
bool take_attribute(Rest& rest, Request& request)
{
    if (!rest.take(request.device) || !take_owner(rest, request))
        return false;
    if (request.verb == Verb::read)
        return rest.empty() || rest.take(request.attribute);
    if (!rest.at_last() && !rest.take(request.attribute))
        return false;
    return rest.take(request.number);
}

bool take_rest(Shape shape, Rest& rest, Request& request)
{
    switch (shape) {
    case Shape::alone:
        return true;
    case Shape::number:
        return rest.take(request.number);
    case Shape::device:
        return rest.take(request.device);
    case Shape::device_number:
        return rest.take(request.device) && rest.take(request.number);
    case Shape::open:
        if (!rest.take(request.device) || !rest.take(request.number) || !rest.take(request.mask))
            return false;
        request.cyclic = rest.take_word("CYCLIC");
        return true;
    case Shape::attribute:
        return take_attribute(rest, request);
    case Shape::trigger:
        return rest.take(request.device) && (rest.empty() || rest.take(request.trigger));
    case Shape::set:
        return rest.take(request.device) && rest.take_word("BUFFERS_COUNT") &&
               rest.take(request.number);
    }
    return false;
}

} // namespace

std::optional<Request> parse_request(std::string_view line)
{
    const Words words = words_of(line);
    Request request;
    if (words.empty())
        return request;
    for (const Syntax& syntax : kSyntax) {
        if (!is_word(words[0], syntax.word))
            continue;
        request.verb = syntax.verb;
        Rest rest(words);
        if (take_rest(syntax.shape, rest, request) && rest.empty())
            return request;
    }
    return std::nullopt;
}

} // namespace iio_stream::serve
