// The tokens as a double-array trie over symbols: one step is one addition and one comparison. Two roots: tokens that
// begin a word, and tokens that go on with one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace umpire {

struct TrieKey {
  /** Each at least 1. */
  std::vector<uint32_t> symbols;
  int32_t id;
};

class Trie {
 public:
  static constexpr uint32_t kStart = 0;
  static constexpr uint32_t kContinuation = 1;
  static constexpr int32_t kNone = -1;

  /** @param symbol_count no symbol is above it */
  Trie(std::vector<TrieKey> starts, std::vector<TrieKey> continuations, uint32_t symbol_count);

  /** @returns whether there is a node; `node` is it then. @param symbol at most the `symbol_count` */
  bool Follow(uint32_t& node, uint32_t symbol) const {
    const uint32_t next = nodes_[node].base + symbol;
    if (nodes_[next].parent != node) return false;
    node = next;
    return true;
  }

  /** @returns kNone where no token ends */
  int32_t id(uint32_t node) const { return nodes_[node].id; }

 private:
  struct Node {
    uint32_t base;
    uint32_t parent;
    int32_t id;
  };

  friend class TrieBuilder;
  std::vector<Node> nodes_;
};

}  // namespace umpire
