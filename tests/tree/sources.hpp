// The files of the source tree, by folder.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace draftproof::tree {

struct Source {
  std::string path;  ///< relative to the source tree
  std::string room;
  std::string text;

  bool is_header() const { return path.ends_with(".hpp") || path.ends_with(".cuh"); }
  auto lines() const { return std::count(text.begin(), text.end(), '\n'); }
};

inline bool is_source(const std::filesystem::path& path) {
  for (const char* extension : {".hpp", ".cpp", ".cuh", ".cu"})
    if (path.extension() == extension) return true;
  return false;
}

/// Every C++ and CUDA source below the folder `room`; none if it does not exist.
inline std::vector<Source> sources(const std::string& room) {
  namespace fs = std::filesystem;
  const fs::path root(DRAFTPROOF_SOURCE_DIR);
  std::vector<Source> found;
  if (!fs::exists(root / room)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root / room))
    if (entry.is_regular_file() && is_source(entry.path())) {
      std::ifstream file(entry.path());
      found.push_back({fs::relative(entry.path(), root).generic_string(),
                       room,
                       {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

}  // namespace draftproof::tree
