// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace iio_stream::archive {

/// Who asks which store. From the places where other S3 clients look: the environment, then
/// AWS_PROFILE's section of
/// ~/.aws/credentials and ~/.aws/config (docs.aws.amazon.com/sdkref, "Shared config and credentials
/// files").
struct Account {
    std::string endpoint; ///< "https://s3.eu-central-1.amazonaws.com", without a slash at its end
    std::string region;
    std::string key, secret, token; ///< token: of temporary credentials, or ""
    std::string authorities;        ///< a file of certificates to trust, or "" for the system's
};

/// Throws a usage Error if there are no credentials, or an address makes no sense.
Account account();

} // namespace iio_stream::archive
