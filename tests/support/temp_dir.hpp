// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace iio_stream::test {

/// A temporary directory for one test. It is removed with its contents at the end.
class TempDir {
public:
    TempDir() : TempDir(std::filesystem::temp_directory_path()) {}
    explicit TempDir(const std::filesystem::path& parent)
    {
        std::string name = parent / "iio-stream-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("mkdtemp " + name);
        path_ = name;
    }
    TempDir(const TempDir&) = delete;
    ~TempDir()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    const std::string& path() const noexcept { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

} // namespace iio_stream::test
