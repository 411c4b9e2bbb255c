// SPDX-License-Identifier: MIT
#include "archive/s3/account.hpp"

#include "iio_stream/error.hpp"
#include "sys/files.hpp"

#include <cstdlib>
#include <map>
#include <sstream>

namespace iio_stream::archive {

namespace {

using Section = std::map<std::string, std::string>;

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text)
{
    const auto begin = text.find_first_not_of(" \t\r");
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Reads one section of an INI file; empty if the file does not exist. Indented lines belong to
/// nested settings, which are not used here.
Section section_of(const std::string& path, const std::string& name)
{
    Section found;
    std::istringstream lines(sys::read_text(path).value_or(""));
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("[")) {
            inside = trimmed(line.substr(1, line.find(']') - 1)) == name;
            continue;
        }
        const auto equals = line.find('=');
        if (inside && equals != std::string::npos && !line.starts_with(" ") &&
            !line.starts_with("\t"))
            found[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    }
    return found;
}

std::string first(std::initializer_list<std::string> values)
{
    for (const std::string& value : values)
        if (!value.empty())
            return value;
    return "";
}

std::string file_named(const char* name, const char* in_home)
{
    return first({variable(name), variable("HOME") + in_home});
}

void set_credentials(Account& account, const Section& stored, const std::string& profile)
{
    account.key = variable("AWS_ACCESS_KEY_ID");
    account.secret = variable("AWS_SECRET_ACCESS_KEY");
    account.token = variable("AWS_SESSION_TOKEN");
    if (!account.key.empty() || !account.secret.empty()) {
        if (account.key.empty() || account.secret.empty())
            fail_usage("one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is missing",
                       "set both, or neither");
        return;
    }
    const auto get = [&stored](const char* name) {
        const auto found = stored.find(name);
        return found == stored.end() ? std::string() : found->second;
    };
    account.key = get("aws_access_key_id");
    account.secret = get("aws_secret_access_key");
    account.token = get("aws_session_token");
    if (account.key.empty() || account.secret.empty())
        fail_usage("there are no credentials for the archive",
                   "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into [" +
                       profile + "] of ~/.aws/credentials");
}

void check_endpoint(const std::string& endpoint)
{
    const bool known = endpoint.starts_with("http://") || endpoint.starts_with("https://");
    if (!known || endpoint.find_first_of("@?#") != std::string::npos)
        fail_usage("AWS_ENDPOINT_URL is not a valid address", // not shown: it can hold a password
                   "such as https://minio.example:9000");
}

} // namespace

Account account()
{
    const std::string profile = first({variable("AWS_PROFILE"), "default"});
    const Section stored =
        section_of(file_named("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), profile);
    Section config = section_of(file_named("AWS_CONFIG_FILE", "/.aws/config"),
                                profile == "default" ? profile : "profile " + profile);
    Account found;
    found.region = first(
        {variable("AWS_REGION"), variable("AWS_DEFAULT_REGION"), config["region"], "us-east-1"});
    found.endpoint =
        first({variable("AWS_ENDPOINT_URL_S3"), variable("AWS_ENDPOINT_URL"),
               config["endpoint_url"], "https://s3." + found.region + ".amazonaws.com"});
    check_endpoint(found.endpoint);
    while (found.endpoint.ends_with('/'))
        found.endpoint.pop_back();
    found.authorities = first({variable("AWS_CA_BUNDLE"), config["ca_bundle"]});
    set_credentials(found, stored, profile);
    return found;
}

} // namespace iio_stream::archive
