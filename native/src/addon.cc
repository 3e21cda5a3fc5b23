// The core as a Node-API addon, and calls about memory and cores. Owns the border: arguments are checked, strings come in as
// UTF-16, buffers as UTF-8, ids go out into typed arrays of the caller, and no exception leaves. A handle is an encoder, so it
// belongs to one thread of Node; the vocabulary behind it is shared by all.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sched.h>
#endif

#include "encoder.h"
#include "node_values.h"
#include "registry.h"
#include "text.h"

#ifndef UMPIRE_SOURCE_HASH
#error "the build says which sources it is made of"
#endif

namespace umpire {
namespace {

/** A text that is read under a limit is fetched up to this many units a token at first, and whole only if it must be. */
constexpr size_t kUnitsPerToken = 8;
constexpr size_t kLeastUnits = 4096;
/** What a giant text needed is given back after it: units and ids above this. */
constexpr size_t kKeptUnits = 1 << 18;

using SharedVocabulary = std::shared_ptr<const Vocabulary>;

/** What a thread keeps from call to call. */
struct ThreadState {
  Encoding encoding;
  std::u16string text;
#if defined(__linux__)
  /** Where it may run while it is not bound. */
  cpu_set_t cores;
  bool is_bound = false;
#endif
};

/** The arguments of one call. */
class Call {
 public:
  Call(napi_env env, napi_callback_info info) : env_(env) {
    size_t count = kMost;
    Check(napi_get_cb_info(env, info, &count, values_, nullptr, nullptr), "no arguments");
    void* state = nullptr;
    Check(napi_get_instance_data(env, &state), "no state");
    state_ = static_cast<ThreadState*>(state);
  }

  napi_env env() const { return env_; }
  napi_value value(size_t index) const { return values_[index]; }
  ThreadState& state() const { return *state_; }

  Encoder& encoder(size_t index) const {
    void* data = nullptr;
    Check(napi_get_value_external(env_, values_[index], &data), "a handle is due");
    return *static_cast<Encoder*>(data);
  }

  /** A number of tokens; Infinity is none. */
  size_t limit(size_t index) const {
    double number = 0;
    Check(napi_get_value_double(env_, values_[index], &number), "a limit is due");
    if (std::isnan(number) || number < 0) throw Fault("a limit is at least 0");
    return number >= 9007199254740991.0 ? kNoLimit : static_cast<size_t>(number);
  }

 private:
  static constexpr size_t kMost = 5;
  napi_env env_;
  napi_value values_[kMost];
  ThreadState* state_ = nullptr;
};

napi_value MakeHandle(napi_env env, SharedVocabulary vocabulary) {
  auto encoder = std::make_unique<Encoder>(std::move(vocabulary));
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<Encoder*>(data); };
  napi_value handle = nullptr;
  Check(napi_create_external(env, encoder.get(), finalize, nullptr, &handle), "a handle");
  encoder.release();
  return handle;
}

VocabularySource GetSource(napi_env env, napi_value object) {
  VocabularySource source;
  const napi_value tokens = GetProperty(env, object, "tokens");
  const View<int32_t> ids = GetInt32s(env, GetProperty(env, object, "ids"));
  uint32_t count = 0;
  Check(napi_get_array_length(env, tokens, &count), "tokens");
  if (count != ids.length) throw Fault("each token has an id");
  source.tokens.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    napi_handle_scope scope = nullptr;
    napi_value token = nullptr;
    Check(napi_open_handle_scope(env, &scope), "a scope");
    Check(napi_get_element(env, tokens, i, &token), "a token");
    if (ids.data[i] < 0) throw Fault("ids are at least 0");
    source.tokens.push_back({GetUtf16(env, token), ids.data[i]});
    Check(napi_close_handle_scope(env, scope), "a scope");
  }
  source.prefix = GetUtf16(env, GetProperty(env, object, "prefix"));
  source.options = {GetBool(env, object, "lowercase"), GetBool(env, object, "stripAccents")};
  source.max_word_characters = GetUint32(env, object, "maxWordCharacters");
  source.unknown_id = GetId(env, object, "unknownId");
  source.cls_id = GetId(env, object, "clsId");
  source.sep_id = GetId(env, object, "sepId");
  return source;
}

/** find(digest): handle | undefined */
napi_value Find(const Call& call) {
  SharedVocabulary found = Registry::OfProcess().Find(GetString(call.env(), call.value(0)));
  return found == nullptr ? nullptr : MakeHandle(call.env(), std::move(found));
}

/** create(digest, source): handle */
napi_value Create(const Call& call) {
  const std::string digest = GetString(call.env(), call.value(0));
  auto made = std::make_shared<const Vocabulary>(GetSource(call.env(), call.value(1)));
  return MakeHandle(call.env(), Registry::OfProcess().Add(digest, std::move(made)));
}

/** describe(handle): { clsId, sepId, continues } */
napi_value Describe(const Call& call) {
  const napi_env env = call.env();
  const Vocabulary& vocabulary = call.encoder(0).vocabulary();
  const auto& continues = vocabulary.continues();
  napi_value description = nullptr;
  Check(napi_create_object(env, &description), "an object");
  SetProperty(env, description, "clsId", MakeNumber(env, vocabulary.cls_id()));
  SetProperty(env, description, "sepId", MakeNumber(env, vocabulary.sep_id()));
  const size_t size = continues.size();
  SetProperty(env, description, "continues", MakeTypedArray(env, napi_uint8_array, continues.data(), size, size));
  return description;
}

/** The bytes of a buffer, or nullptr for a string. */
const uint8_t* FindBytes(napi_env env, napi_value value, size_t& length) {
  bool is_array = false;
  if (napi_is_typedarray(env, value, &is_array) != napi_ok || !is_array) return nullptr;
  napi_typedarray_type type{};
  void* data = nullptr;
  Check(napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr), "an Uint8Array is due");
  if (type != napi_uint8_array) throw Fault("a string or an Uint8Array is due");
  static const uint8_t empty = 0;
  return length == 0 ? &empty : static_cast<const uint8_t*>(data);
}

/** Appends the ids of one text to the thread's encoding. */
void EncodeText(const Call& call, Encoder& encoder, napi_value value, size_t limit) {
  Encoding& encoding = call.state().encoding;
  std::u16string& text = call.state().text;
  size_t length = 0;
  if (const uint8_t* bytes = FindBytes(call.env(), value, length)) {
    encoder.Encode(Utf8Text(bytes, length), {limit, true}, encoding);
    return;
  }
  Check(napi_get_value_string_utf16(call.env(), value, nullptr, 0, &length), "a string is due");
  const size_t first = encoding.ids.size();
  const size_t enough = limit > length ? length : kUnitsPerToken * limit + kLeastUnits;
  if (enough < length) {
    FetchText(call.env(), value, enough, text);
    if (encoder.Encode(Utf16Text(text.data(), text.size()), {limit, false}, encoding)) return;
    encoding.ids.Shrink(first);
  }
  FetchText(call.env(), value, length, text);
  encoder.Encode(Utf16Text(text.data(), text.size()), {limit, true}, encoding);
  if (text.capacity() > kKeptUnits) std::u16string().swap(text);
}

/** Writes the thread's ids where they fit. @returns how many there are */
napi_value Deliver(const Call& call, napi_value target) {
  const auto& ids = call.state().encoding.ids;
  const View<int32_t> view = GetInt32s(call.env(), target);
  if (ids.size() <= view.length) std::copy(ids.begin(), ids.end(), view.data);
  return MakeNumber(call.env(), static_cast<double>(ids.size()));
}

/** encode(handle, text, limit, target): number of ids; they are in `target` if they fit, else `take` gives them */
napi_value Encode(const Call& call) {
  call.state().encoding.ids.Shrink(0);
  EncodeText(call, call.encoder(0), call.value(1), call.limit(2));
  return Deliver(call, call.value(3));
}

/** encodeAll(handle, texts, limit, ends, target): as encode; `ends` says where the ids of each text end */
napi_value EncodeAll(const Call& call) {
  const napi_env env = call.env();
  auto& ids = call.state().encoding.ids;
  ids.Shrink(0);
  const View<int32_t> ends = GetInt32s(env, call.value(3));
  uint32_t count = 0;
  Check(napi_get_array_length(env, call.value(1), &count), "an array of texts is due");
  if (ends.length != count) throw Fault("each text has an end");
  const size_t limit = call.limit(2);
  for (uint32_t i = 0; i < count; ++i) {
    napi_handle_scope scope = nullptr;
    napi_value text = nullptr;
    Check(napi_open_handle_scope(env, &scope), "a scope");
    Check(napi_get_element(env, call.value(1), i, &text), "a text is due");
    EncodeText(call, call.encoder(0), text, limit);
    ends.data[i] = static_cast<int32_t>(ids.size());
    Check(napi_close_handle_scope(env, scope), "a scope");
  }
  return Deliver(call, call.value(4));
}

/** take(target): the ids of the last call, which did not fit; `target` is as long as they are many */
napi_value Take(const Call& call) {
  const View<int32_t> view = GetInt32s(call.env(), call.value(0));
  auto& ids = call.state().encoding.ids;
  if (view.length != ids.size()) throw Fault("there are other ids by now");
  std::copy(ids.begin(), ids.end(), view.data);
  if (ids.capacity() > kKeptUnits) ids.Discard();
  return nullptr;
}

/** encodeWithSpans(handle, text): Int32Array of id, start and end of each token; ends are exclusive, in UTF-16 units */
napi_value EncodeWithSpans(const Call& call) {
  Encoding encoding;
  const std::u16string text = GetUtf16(call.env(), call.value(1));
  call.encoder(0).EncodeWithSpans(Utf16Text(text.data(), text.size()), {}, encoding);
  std::vector<int32_t> rows;
  rows.reserve(3 * encoding.ids.size());
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    const auto [start, end] = encoding.spans[i];
    rows.insert(rows.end(), {encoding.ids[i], static_cast<int32_t>(start), static_cast<int32_t>(end)});
  }
  return MakeTypedArray(call.env(), napi_int32_array, rows.data(), rows.size() * sizeof(int32_t), rows.size());
}

/**
 * giveBackMemory(): what the allocator holds and nobody uses goes back to the system, of all threads; false where there is
 * no way to ask for it
 */
napi_value GiveBackMemory(const Call& call) {
  bool is_known = false;
#if defined(__GLIBC__)
  malloc_trim(0);
  is_known = true;
#endif
  return MakeBool(call.env(), is_known);
}

/** allowedCores(): Int32Array of the cores that this thread may run on; none where the system does not say */
napi_value AllowedCores(const Call& call) {
  std::vector<int32_t> cores;
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int32_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<size_t>(core), &set)) cores.push_back(core);
    }
  }
#endif
  return MakeTypedArray(call.env(), napi_int32_array, cores.data(), cores.size() * sizeof(int32_t), cores.size());
}

/** bindThread(core): until `unbindThread` this thread runs there alone; false where the system has no way or does not allow it */
napi_value BindThread(const Call& call) {
  const size_t core = call.limit(0);
  bool is_bound = false;
#if defined(__linux__)
  ThreadState& state = call.state();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core < CPU_SETSIZE) CPU_SET(core, &set);
  if (!state.is_bound) {
    const bool is_known = sched_getaffinity(0, sizeof state.cores, &state.cores) == 0;
    is_bound = is_known && sched_setaffinity(0, sizeof set, &set) == 0;
    state.is_bound = is_bound;
  }
#else
  static_cast<void>(core);
#endif
  return MakeBool(call.env(), is_bound);
}

/** unbindThread(): it runs again where it could before */
napi_value UnbindThread(const Call& call) {
#if defined(__linux__)
  ThreadState& state = call.state();
  if (state.is_bound) sched_setaffinity(0, sizeof state.cores, &state.cores);
  state.is_bound = false;
#else
  static_cast<void>(call);
#endif
  return nullptr;
}

/** Exceptions become JavaScript's. */
template <napi_value (*kFunction)(const Call&)>
napi_value Guarded(napi_env env, napi_callback_info info) {
  try {
    return kFunction(Call(env, info));
  } catch (const Fault& fault) {
    napi_throw_type_error(env, nullptr, fault.what());
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

napi_value Start(napi_env env, napi_value exports) {
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<ThreadState*>(data); };
  Check(napi_set_instance_data(env, new ThreadState(), finalize, nullptr), "the thread's state");
  const napi_property_descriptor properties[] = {
      {"find", nullptr, Guarded<Find>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"create", nullptr, Guarded<Create>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"describe", nullptr, Guarded<Describe>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"encode", nullptr, Guarded<Encode>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"encodeAll", nullptr, Guarded<EncodeAll>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"take", nullptr, Guarded<Take>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"encodeWithSpans", nullptr, Guarded<EncodeWithSpans>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"allowedCores", nullptr, Guarded<AllowedCores>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"bindThread", nullptr, Guarded<BindThread>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"unbindThread", nullptr, Guarded<UnbindThread>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
      {"giveBackMemory", nullptr, Guarded<GiveBackMemory>, nullptr, nullptr, nullptr, napi_enumerable, nullptr},
  };
  Check(napi_define_properties(env, exports, std::size(properties), properties), "the functions");
  napi_value hash = nullptr;
  Check(napi_create_string_utf8(env, UMPIRE_SOURCE_HASH, NAPI_AUTO_LENGTH, &hash), "the hash");
  SetProperty(env, exports, "sourceHash", hash);
  return exports;
}

}  // namespace
}  // namespace umpire

NAPI_MODULE_INIT() {
  try {
    return umpire::Start(env, exports);
  } catch (const std::exception& error) {
    napi_throw_error(env, nullptr, error.what());
    return nullptr;
  }
}
