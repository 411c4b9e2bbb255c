// SPDX-License-Identifier: MIT
#pragma once

#include <curl/curl.h>
#include <expat.h>

namespace iio_stream::archive {

/// libcurl's functions. libcurl is loaded when an archive is opened, so that programs without an
/// archive do not load the thirty libraries that it depends on.
struct Curl {
    decltype(&::curl_easy_init) init;
    decltype(&::curl_easy_setopt) set;
    decltype(&::curl_easy_perform) perform;
    decltype(&::curl_easy_getinfo) get;
    decltype(&::curl_easy_reset) reset;
    decltype(&::curl_easy_cleanup) cleanup;
    decltype(&::curl_easy_strerror) text_of;
    decltype(&::curl_slist_append) append;
    decltype(&::curl_slist_free_all) free_list;
};

/// Expat's functions. Expat is loaded in the same way.
struct Expat {
    decltype(&::XML_ParserCreate) create;
    decltype(&::XML_SetUserData) set_user_data;
    decltype(&::XML_SetElementHandler) on_element;
    decltype(&::XML_SetCharacterDataHandler) on_text;
    decltype(&::XML_SetDoctypeDeclHandler) on_doctype;
    decltype(&::XML_StopParser) stop;
    decltype(&::XML_Parse) parse;
    decltype(&::XML_ParserFree) free;
};

/// Each function loads its library once. Throws an Error that names the package to install.
const Curl& curl();
const Expat& expat();

} // namespace iio_stream::archive
