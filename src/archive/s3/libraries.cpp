// SPDX-License-Identifier: MIT
#include "archive/s3/libraries.hpp"

#include "core/base/library.hpp"

#include <string>

namespace iio_stream::archive {

namespace {

Curl load_curl()
{
    constexpr unsigned kOldest =
        0x075700; // 7.87 signs the payload hash that a request header states
    const detail::Library library("libcurl.so.4", "libcurl-gnutls.so.4", "libcurl4");
    Curl made{};
    decltype(&::curl_global_init) global_init = nullptr;
    decltype(&::curl_version_info) version_info = nullptr;
    library.find("curl_global_init", global_init);
    library.find("curl_version_info", version_info);
    library.find("curl_easy_init", made.init);
    library.find("curl_easy_setopt", made.set);
    library.find("curl_easy_perform", made.perform);
    library.find("curl_easy_getinfo", made.get);
    library.find("curl_easy_reset", made.reset);
    library.find("curl_easy_cleanup", made.cleanup);
    library.find("curl_easy_strerror", made.text_of);
    library.find("curl_slist_append", made.append);
    library.find("curl_slist_free_all", made.free_list);
    const curl_version_info_data* version = version_info(CURLVERSION_NOW);
    if (version->version_num < kOldest)
        library.fail(std::string("version ") + version->version + " is older than 7.87");
    if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        library.fail("its initialization failed");
    return made;
}

Expat load_expat()
{
    const detail::Library library("libexpat.so.1", nullptr, "libexpat1");
    Expat made{};
    library.find("XML_ParserCreate", made.create);
    library.find("XML_SetUserData", made.set_user_data);
    library.find("XML_SetElementHandler", made.on_element);
    library.find("XML_SetCharacterDataHandler", made.on_text);
    library.find("XML_SetDoctypeDeclHandler", made.on_doctype);
    library.find("XML_StopParser", made.stop);
    library.find("XML_Parse", made.parse);
    library.find("XML_ParserFree", made.free);
    return made;
}

} // namespace

const Curl& curl()
{
    static const Curl loaded = load_curl();
    return loaded;
}

const Expat& expat()
{
    static const Expat loaded = load_expat();
    return loaded;
}

} // namespace iio_stream::archive
