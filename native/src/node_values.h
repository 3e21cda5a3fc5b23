// Values of Node as those of C++ and back; what is not of the kind that is due is a `Fault`. Knows nothing of tokenizers.

#pragma once

#define NAPI_VERSION 8
#include <node_api.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace umpire {

/** A wrong argument. */
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void Check(napi_status status, const char* what) {
  if (status != napi_ok) throw Fault(what);
}

/** A view of a typed array's memory. */
template <typename Element>
struct View {
  Element* data;
  size_t length;
};

inline View<int32_t> GetInt32s(napi_env env, napi_value value) {
  napi_typedarray_type type{};
  size_t length = 0;
  void* data = nullptr;
  const napi_status status = napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  if (status != napi_ok || type != napi_int32_array) throw Fault("an Int32Array is due");
  return {static_cast<int32_t*>(data), length};
}

inline std::string GetString(napi_env env, napi_value value) {
  size_t length = 0;
  Check(napi_get_value_string_utf8(env, value, nullptr, 0, &length), "a string is due");
  std::string text(length, '\0');
  Check(napi_get_value_string_utf8(env, value, text.data(), length + 1, &length), "a string is due");
  return text;
}

/** @param most units that are fetched; one more is room for the end mark that Node writes */
inline void FetchText(napi_env env, napi_value value, size_t most, std::u16string& text) {
  text.resize(most + 1);
  size_t length = 0;
  Check(napi_get_value_string_utf16(env, value, text.data(), most + 1, &length), "a string is due");
  text.resize(length);
}

inline std::u16string GetUtf16(napi_env env, napi_value value) {
  size_t length = 0;
  Check(napi_get_value_string_utf16(env, value, nullptr, 0, &length), "a string is due");
  std::u16string text;
  FetchText(env, value, length, text);
  return text;
}

inline napi_value GetProperty(napi_env env, napi_value object, const char* name) {
  napi_value value = nullptr;
  Check(napi_get_named_property(env, object, name, &value), name);
  return value;
}

inline bool GetBool(napi_env env, napi_value object, const char* name) {
  bool value = false;
  Check(napi_get_value_bool(env, GetProperty(env, object, name), &value), name);
  return value;
}

inline uint32_t GetUint32(napi_env env, napi_value object, const char* name) {
  uint32_t value = 0;
  Check(napi_get_value_uint32(env, GetProperty(env, object, name), &value), name);
  return value;
}

inline int32_t GetId(napi_env env, napi_value object, const char* name) {
  return static_cast<int32_t>(GetUint32(env, object, name));
}

inline void SetProperty(napi_env env, napi_value object, const char* name, napi_value value) {
  Check(napi_set_named_property(env, object, name, value), name);
}

inline napi_value MakeBool(napi_env env, bool boolean) {
  napi_value value = nullptr;
  Check(napi_get_boolean(env, boolean, &value), "a boolean");
  return value;
}

inline napi_value MakeNumber(napi_env env, double number) {
  napi_value value = nullptr;
  Check(napi_create_double(env, number, &value), "a number");
  return value;
}

inline napi_value MakeTypedArray(napi_env env, napi_typedarray_type type, const void* bytes, size_t size, size_t length) {
  void* data = nullptr;
  napi_value buffer = nullptr;
  napi_value array = nullptr;
  Check(napi_create_arraybuffer(env, size, &data, &buffer), "memory");
  if (size > 0) std::memcpy(data, bytes, size);
  Check(napi_create_typedarray(env, type, length, buffer, 0, &array), "an array");
  return array;
}

}  // namespace umpire
