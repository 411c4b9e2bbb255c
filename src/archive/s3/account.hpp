// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::archive {

/// An S3 store's address and credentials. They come from the same places as in other S3 clients:
/// first from the environment, then from the section that AWS_PROFILE names in ~/.aws/credentials
/// and ~/.aws/config (docs.aws.amazon.com/sdkref, "Shared config and credentials files").
struct Account {
    std::string endpoint; ///< "https://s3.eu-central-1.amazonaws.com", without a trailing slash
    std::string region;
    std::string key, secret, token; ///< token: of temporary credentials, or ""
    std::string authorities;        ///< a file of certificates to trust, or "" for the system's
};

/// Reads the account. Throws a usage Error if there are no credentials, or if the address is
/// invalid.
Account account();

} // namespace iio_stream::archive
