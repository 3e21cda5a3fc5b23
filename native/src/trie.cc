#include "trie.h"

#include <algorithm>
#include <limits>

namespace umpire {

namespace {
constexpr uint32_t kNoParent = std::numeric_limits<uint32_t>::max();
}  // namespace

class TrieBuilder {
 public:
  explicit TrieBuilder(Trie& trie) : nodes_(trie.nodes_) {
    Grow(2);
    // The roots are taken, by nobody that a look-up could come from.
    nodes_[Trie::kStart].parent = kTakenByNobody;
    nodes_[Trie::kContinuation].parent = kTakenByNobody;
  }

  void Insert(std::vector<TrieKey> keys, uint32_t root) {
    std::sort(keys.begin(), keys.end(), [](const TrieKey& a, const TrieKey& b) { return a.symbols < b.symbols; });
    std::vector<Range> open{{0, keys.size(), 0, root}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      Place(keys, range, open);
    }
  }

  /** Any base and any symbol together stay inside. */
  void Close(uint32_t symbol_count) {
    uint32_t highest = 0;
    for (const auto& node : nodes_) highest = std::max(highest, node.base);
    Grow(size_t{highest} + symbol_count + 1);
    nodes_.shrink_to_fit();
  }

 private:
  static constexpr uint32_t kTakenByNobody = kNoParent - 1;

  /** Keys `from` to `to` begin alike, as far as `depth`; that beginning is `node`. */
  struct Range {
    size_t from;
    size_t to;
    size_t depth;
    uint32_t node;
  };

  void Place(const std::vector<TrieKey>& keys, Range range, std::vector<Range>& open) {
    while (range.from < range.to && keys[range.from].symbols.size() == range.depth) {
      if (range.depth > 0) nodes_[range.node].id = keys[range.from].id;
      ++range.from;
    }
    if (range.from == range.to) return;
    std::vector<Range> children;
    std::vector<uint32_t> symbols;
    for (size_t i = range.from; i < range.to; ++i) {
      const uint32_t symbol = keys[i].symbols[range.depth];
      if (symbols.empty() || symbols.back() != symbol) {
        symbols.push_back(symbol);
        children.push_back({i, i, range.depth + 1, 0});
      }
      children.back().to = i + 1;
    }
    const uint32_t base = FindBase(symbols);
    nodes_[range.node].base = base;
    for (size_t i = 0; i < children.size(); ++i) {
      children[i].node = base + symbols[i];
      nodes_[base + symbols[i]].parent = range.node;
      open.push_back(children[i]);
    }
  }

  /** The first place where all symbols meet free nodes. */
  uint32_t FindBase(const std::vector<uint32_t>& symbols) {
    while (first_free_ < nodes_.size() && nodes_[first_free_].parent != kNoParent) ++first_free_;
    for (size_t place = std::max(first_free_, size_t{symbols[0]});; ++place) {
      const auto base = static_cast<uint32_t>(place - symbols[0]);
      Grow(size_t{base} + symbols.back() + 1);
      const auto is_free = [&](uint32_t symbol) { return nodes_[base + symbol].parent == kNoParent; };
      if (std::all_of(symbols.begin(), symbols.end(), is_free)) return base;
    }
  }

  void Grow(size_t size) {
    if (nodes_.size() < size) nodes_.resize(size, {0, kNoParent, Trie::kNone});
  }

  std::vector<Trie::Node>& nodes_;
  size_t first_free_ = 0;
};

Trie::Trie(std::vector<TrieKey> starts, std::vector<TrieKey> continuations, uint32_t symbol_count) {
  TrieBuilder builder(*this);
  builder.Insert(std::move(starts), kStart);
  builder.Insert(std::move(continuations), kContinuation);
  builder.Close(symbol_count);
}

}  // namespace umpire
