// SPDX-License-Identifier: MIT
#pragma once

#include "archive/store.hpp"

namespace iio_stream::archive {

/// A folder with its subfolders. Links are not followed.
class Folder : public Store {
public:
    Folder(std::string path, GoOn go_on);

    std::map<std::string, Entry> list() override;
    std::optional<Entry> find(const std::string& name) override;
    std::string read(const std::string& name, const Into& into, std::uint64_t begin = 0) override;
    void write(const std::string& name, const std::string& text) override;
    void remove(const std::string& name) override;
    std::string url_of(const std::string& name) const override { return path_ + name; }

private:
    void check_stop() const;

    std::string path_; ///< ends with a slash
    GoOn go_on_;
};

} // namespace iio_stream::archive
