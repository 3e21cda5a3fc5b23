// The core without Node, to be run under sanitizers: `npm run native:test` builds it and hands it a file with a vocabulary
// and texts whose ids the reference library gave. Checks those, then texts made of anything.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../src/encoder.h"
#include "../src/registry.h"
#include "../src/text.h"

namespace umpire {
namespace {

using Ids = std::vector<int32_t>;

struct Case {
  std::u16string text;
  Ids ids;
};

struct Input {
  VocabularySource source;
  std::vector<Case> cases;
};

/** Numbers of 32 bits and texts of UTF-16 units, as native/test/run.mjs writes them. */
class InputFile {
 public:
  explicit InputFile(const char* path) : file_(path, std::ios::binary) {}

  int32_t Number() {
    int32_t number = 0;
    file_.read(reinterpret_cast<char*>(&number), sizeof number);
    if (!file_) throw std::runtime_error("the input ends too early");
    return number;
  }

  std::u16string Text() {
    std::u16string text(static_cast<size_t>(Number()), u'\0');
    file_.read(reinterpret_cast<char*>(text.data()), static_cast<std::streamsize>(2 * text.size()));
    return text;
  }

  Input All() {
    Input input;
    input.source.prefix = Text();
    input.source.options = {Number() != 0, Number() != 0};
    input.source.max_word_characters = static_cast<size_t>(Number());
    input.source.unknown_id = Number();
    input.source.cls_id = Number();
    input.source.sep_id = Number();
    input.source.tokens.resize(static_cast<size_t>(Number()));
    for (Token& token : input.source.tokens) token = {Text(), Number()};
    input.cases.resize(static_cast<size_t>(Number()));
    for (Case& one : input.cases) {
      one.text = Text();
      one.ids.resize(static_cast<size_t>(Number()));
      for (int32_t& id : one.ids) id = Number();
    }
    return input;
  }

 private:
  std::ifstream file_;
};

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::exit(1);
}

std::string ToUtf8(const std::u16string& text) {
  std::string bytes;
  Utf16Text reader(text.data(), text.size());
  while (!reader.AtEnd()) {
    const char32_t c = reader.Next();
    if (c < 0x80) {
      bytes += static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    bytes += static_cast<char>((0xFF00 >> (more + 1) & 0xFF) | c >> (6 * more));
    for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | (c >> (6 * i) & 0x3F));
  }
  return bytes;
}

Utf16Text Reader(const std::u16string& text) { return {text.data(), text.size()}; }

Utf8Text Reader(const std::string& bytes) { return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}; }

template <typename Text>
Ids IdsOf(Encoder& encoder, Text text, ReadOptions options = {}) {
  Encoding encoding;
  encoder.Encode(text, options, encoding);
  return {encoding.ids.begin(), encoding.ids.end()};
}

bool IsBeginning(const Ids& part, const Ids& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/** The careful way gives the ids of the quick one, and spans that lie in the text one after the other. */
template <typename Text>
void CheckSpans(Encoder& encoder, Text text, const Ids& ids) {
  Encoding encoding;
  encoder.EncodeWithSpans(text, {}, encoding);
  Require(Ids(encoding.ids.begin(), encoding.ids.end()) == ids, "the careful way and the quick one agree");
  Require(encoding.spans.size() == ids.size(), "each id has a span");
  for (const auto& [start, end] : encoding.spans) Require(start < end && end <= text.length(), "spans lie in the text");
}

/** A limit is passed if there are more ids, and what was read until then is right. */
void CheckLimits(Encoder& encoder, const std::u16string& text, const Ids& ids) {
  for (const size_t limit : {size_t{0}, size_t{1}, ids.size() / 2, ids.size(), ids.size() + 1}) {
    Encoding encoding;
    const bool is_over = encoder.Encode(Reader(text), {limit, true}, encoding);
    const Ids read(encoding.ids.begin(), encoding.ids.end());
    Require(is_over == (ids.size() > limit), "the limit is passed where there are more ids");
    Require(is_over ? read.size() > limit && IsBeginning(read, ids) : read == ids, "ids under a limit are right");
  }
}

/** Nothing that a longer text could change is told of its beginning. */
void CheckBeginnings(Encoder& encoder, const std::u16string& text, const Ids& ids) {
  const size_t step = text.size() / 64 + 1;
  for (size_t length = 0; length <= text.size(); length += step) {
    const std::u16string beginning = text.substr(0, length);
    Require(IsBeginning(IdsOf(encoder, Reader(beginning), {kNoLimit, false}), ids), "a beginning tells nothing wrong");
  }
}

void CheckText(Encoder& encoder, const std::u16string& text, const Ids& ids) {
  const std::string bytes = ToUtf8(text);
  Require(IdsOf(encoder, Reader(text)) == ids, "UTF-16 gives the ids");
  Require(IdsOf(encoder, Reader(bytes)) == ids, "UTF-8 gives the ids");
  CheckSpans(encoder, Reader(text), ids);
  CheckSpans(encoder, Reader(bytes), ids);
  CheckLimits(encoder, text, ids);
  CheckBeginnings(encoder, text, ids);
  std::vector<uint8_t> latin1;
  for (const char16_t unit : text) {
    if (unit > 0xFF) return;
    latin1.push_back(static_cast<uint8_t>(unit));
  }
  Require(IdsOf(encoder, Latin1Text(latin1.data(), latin1.size())) == ids, "Latin-1 gives the ids");
}

/** Units of all kinds, many of them of the kinds that are hard. */
std::u16string RandomText(std::mt19937& random) {
  static constexpr char16_t kFirsts[] = {0,      0x20,   0x41,   0x61,   0x61,   0x61,   0xC0,   0x300,  0x302E, 0x900,
                                         0x1100, 0x2000, 0x4E00, 0xAC00, 0xD800, 0xDC00, 0xF900, 0xD834, 0xDD65, 0xFFF0};
  const size_t kinds = 1 + random() % 4;
  std::vector<char16_t> firsts;
  for (size_t i = 0; i < kinds; ++i) firsts.push_back(kFirsts[random() % std::size(kFirsts)]);
  std::u16string text(random() % 80, u'\0');
  for (char16_t& unit : text) {
    const bool is_any = random() % 16 == 0;
    unit = static_cast<char16_t>(is_any ? random() : firsts[random() % kinds] + random() % 26);
  }
  return text;
}

std::string RandomBytes(std::mt19937& random) {
  std::string bytes(random() % 60, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 3 == 0 ? random() : random() % 26 + 'a');
  return bytes;
}

void CheckRandom(const std::shared_ptr<const Vocabulary>& vocabulary, uint32_t seed, size_t texts) {
  std::mt19937 random(seed);
  Encoder kept(vocabulary);
  for (size_t i = 0; i < texts; ++i) {
    const std::u16string text = RandomText(random);
    Encoding careful;
    kept.EncodeWithSpans(Reader(text), {}, careful);
    CheckText(kept, text, Ids(careful.ids.begin(), careful.ids.end()));
    const std::string bytes = RandomBytes(random);
    CheckSpans(kept, Reader(bytes), IdsOf(kept, Reader(bytes)));
  }
}

/** What somebody might send to make the server busy. */
void CheckGiants(const std::shared_ptr<const Vocabulary>& vocabulary) {
  constexpr size_t kUnits = 1 << 20;
  for (const std::u16string unit : {u"x", u"a ", u"\u0301", u"\u302e\u0316", u"\xd834\xdd65\u0345", u"\uac01", u"\xdc00"}) {
    std::u16string text;
    while (text.size() < kUnits) text += unit;
    Encoder encoder(vocabulary);
    const Ids ids = IdsOf(encoder, Reader(text));
    Require(ids.size() <= text.size(), "a unit is no more than a token");
    CheckLimits(encoder, text, ids);
  }
}

void CheckThreads(const VocabularySource& source, const std::vector<Case>& cases) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&source, &cases] {
      auto vocabulary = Registry::OfProcess().Find("shared");
      if (vocabulary == nullptr) {
        vocabulary = Registry::OfProcess().Add("shared", std::make_shared<const Vocabulary>(source));
      }
      Encoder encoder(vocabulary);
      for (const auto& [text, ids] : cases) Require(IdsOf(encoder, Reader(text)) == ids, "threads get the ids");
    });
  }
  for (std::thread& thread : threads) thread.join();
  Require(Registry::OfProcess().Find("shared") == nullptr, "a vocabulary goes with the last who holds it");
}

}  // namespace
}  // namespace umpire

int main(int count, char** arguments) {
  using namespace umpire;
  if (count != 3) {
    std::fprintf(stderr, "usage: driver <input> <random texts>\n");
    return 2;
  }
  const Input input = InputFile(arguments[1]).All();
  const auto vocabulary = std::make_shared<const Vocabulary>(input.source);
  const size_t texts = std::strtoul(arguments[2], nullptr, 10);
  Encoder encoder(vocabulary);
  for (const auto& [text, ids] : input.cases) CheckText(encoder, text, ids);
  CheckRandom(vocabulary, 20261121, texts);
  CheckGiants(vocabulary);
  CheckThreads(input.source, input.cases);
  std::printf("%zu texts of the reference, %zu random ones, giants, threads: all as they should be\n", input.cases.size(), texts);
  return 0;
}
