// SPDX-License-Identifier: MIT
#pragma once

#include <curl/curl.h>
#include <expat.h>

namespace iio_stream::archive {

/// libcurl's functions. It is loaded when an archive is opened: it brings thirty libraries, for
/// which no other program waits.
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

/// Expat's, loaded in the same way.
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

/// Each throws an Error that says what to install.
const Curl& curl();
const Expat& expat();

} // namespace iio_stream::archive
