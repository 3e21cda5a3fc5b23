#include "registry.h"

namespace umpire {

Registry& Registry::OfProcess() {
  // Never destroyed: worker threads may outlive the statics of a process that ends.
  static Registry& registry = *new Registry();
  return registry;
}

std::shared_ptr<const Vocabulary> Registry::Find(const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = vocabularies_.find(digest);
  return found == vocabularies_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<const Vocabulary> Registry::Add(const std::string& digest, std::shared_ptr<const Vocabulary> vocabulary) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::weak_ptr<const Vocabulary>& kept = vocabularies_[digest];
  if (auto first = kept.lock()) return first;
  kept = vocabulary;
  return vocabulary;
}

}  // namespace umpire
