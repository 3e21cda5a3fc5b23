// A growing list of ids that is written without asking at every id whether there is room.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace umpire {

class IdList {
 public:
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  const int32_t* begin() const { return ids_.get(); }
  const int32_t* end() const { return ids_.get() + size_; }
  int32_t operator[](size_t index) const { return ids_[index]; }

  /** Only ever to what it has been. */
  void Shrink(size_t size) { size_ = size; }

  void Push(int32_t id) {
    Reserve(1);
    ids_[size_++] = id;
  }

  /** `kMost` ids are read, `count` of them kept. */
  template <size_t kMost>
  void PushSome(const int32_t (&ids)[kMost], size_t count) {
    Reserve(kMost);
    std::copy(ids, ids + kMost, ids_.get() + size_);
    size_ += count;
  }

  /** Gives all memory back. */
  void Discard() { *this = IdList(); }

 private:
  void Reserve(size_t more) {
    if (size_ + more <= capacity_) return;
    capacity_ = std::max(2 * capacity_, size_t{1024});
    std::unique_ptr<int32_t[]> larger(new int32_t[capacity_]);
    std::copy(begin(), end(), larger.get());
    ids_ = std::move(larger);
  }

  std::unique_ptr<int32_t[]> ids_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace umpire
