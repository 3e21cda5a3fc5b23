// Vocabularies of this process by the digest of their file: one table for all threads, gone with the last that holds it.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "vocabulary.h"

namespace umpire {

class Registry {
 public:
  static Registry& OfProcess();

  /** @returns nullptr where no thread holds one */
  std::shared_ptr<const Vocabulary> Find(const std::string& digest);

  /** Of two threads that make the same one at once, both get the first. */
  std::shared_ptr<const Vocabulary> Add(const std::string& digest, std::shared_ptr<const Vocabulary> vocabulary);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<const Vocabulary>> vocabularies_;
};

}  // namespace umpire
