// SPDX-License-Identifier: MIT
// libzmq is loaded when a zmq: endpoint is opened, so that programs without such an endpoint do not
// load the dozen libraries that it depends on. The rest of this folder calls its functions as zmq.h
// declares them. The definitions are here.
#include "iio_stream/error.hpp"

#include <cerrno>
#include <dlfcn.h>
#include <zmq.h>

namespace iio_stream::zmq {

namespace {

constexpr const char* kLibrary = "libzmq.so.5";

void* load()
{
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = ::dlerror();
        throw Error(Fault::other, ENOENT, "load", kLibrary, why == nullptr ? "" : why,
                    "sudo apt install libzmq5");
    }
    return library;
}

void* symbol(const char* name)
{
    static void* const library = load();
    void* address = ::dlsym(library, name);
    if (address == nullptr)
        throw Error(Fault::other, ENOSYS, "load", kLibrary, std::string("it has no ") + name,
                    "4.2 and newer versions have it");
    return address;
}

} // namespace

} // namespace iio_stream::zmq

// FORWARD(result, name, (parameters), (arguments))
#define FORWARD(result, name, parameters, arguments)                                               \
    result name parameters                                                                         \
    {                                                                                              \
        static const auto loaded =                                                                 \
            reinterpret_cast<decltype(&::name)>(iio_stream::zmq::symbol(#name));                   \
        return loaded arguments;                                                                   \
    }

extern "C" {

FORWARD(int, zmq_errno, (), ())
FORWARD(const char*, zmq_strerror, (int error), (error))
FORWARD(int, zmq_has, (const char* capability), (capability))
FORWARD(uint8_t*, zmq_z85_decode, (uint8_t * key, const char* text), (key, text))

FORWARD(void*, zmq_ctx_new, (), ())
FORWARD(int, zmq_ctx_term, (void* context), (context))

FORWARD(void*, zmq_socket, (void* context, int type), (context, type))
FORWARD(int, zmq_close, (void* socket), (socket))
FORWARD(int, zmq_setsockopt, (void* socket, int option, const void* value, size_t size),
        (socket, option, value, size))
FORWARD(int, zmq_getsockopt, (void* socket, int option, void* value, size_t* size),
        (socket, option, value, size))
FORWARD(int, zmq_bind, (void* socket, const char* address), (socket, address))
FORWARD(int, zmq_connect, (void* socket, const char* address), (socket, address))
FORWARD(int, zmq_socket_monitor, (void* socket, const char* address, int events),
        (socket, address, events))

FORWARD(int, zmq_msg_init, (zmq_msg_t * message), (message))
FORWARD(int, zmq_msg_init_size, (zmq_msg_t * message, size_t size), (message, size))
FORWARD(int, zmq_msg_init_data,
        (zmq_msg_t * message, void* data, size_t size, zmq_free_fn* release, void* hint),
        (message, data, size, release, hint))
FORWARD(int, zmq_msg_send, (zmq_msg_t * message, void* socket, int flags), (message, socket, flags))
FORWARD(int, zmq_msg_recv, (zmq_msg_t * message, void* socket, int flags), (message, socket, flags))
FORWARD(int, zmq_msg_close, (zmq_msg_t * message), (message))
FORWARD(int, zmq_msg_copy, (zmq_msg_t * to, zmq_msg_t* from), (to, from))
FORWARD(void*, zmq_msg_data, (zmq_msg_t * message), (message))
FORWARD(size_t, zmq_msg_size, (const zmq_msg_t* message), (message))
FORWARD(int, zmq_msg_more, (const zmq_msg_t* message), (message))

} // extern "C"

#undef FORWARD
