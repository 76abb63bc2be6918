// A shared library of the C door after it was opened: its checked table of functions, one instance, the declaration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <draftproof/doors/draftproof_door.h>
#include <draftproof/doors/declaration.hpp>

namespace draftproof::doors {

/// Owns the instance. The library itself stays loaded: runtimes of CUDA and OpenMP do not survive their unloading.
class LibraryTable {
 public:
  /// Opens the library at `path` and makes an instance from `options`, a JSON object.
  /// Throws: DoorError with the path, what was found and what was wanted, if there is no such library, no symbol
  /// draftproof_door, another ABI, a table that is too small, a declaration with unknown values, or no instance.
  LibraryTable(const std::string& path, const std::string& options);
  /// The same of a library that is linked already: `door` is its draftproof_door, `name` stands for the path.
  using Door = const dp_verifier* (*)(std::uint32_t abi);
  LibraryTable(const std::string& name, Door door, const std::string& options);
  ~LibraryTable();
  LibraryTable(const LibraryTable&) = delete;
  LibraryTable& operator=(const LibraryTable&) = delete;

  /// The functions; fields that the library's table does not have are 0.
  const dp_verifier& functions() const { return table_; }
  void* self() const { return self_; }
  const Declaration& declaration() const { return declaration_; }
  const std::string& path() const { return path_; }

  /// Whether rows are to be copied to a device by the library before a call.
  bool on_device() const { return on_device_; }

 private:
  DoorError refuse(const std::string& what, const std::string& found, const std::string& wanted) const;
  void take(const dp_verifier* found);
  void check();
  Declaration declared() const;

  std::string path_;
  dp_verifier table_{};
  void* self_ = nullptr;
  bool on_device_ = false;
  Declaration declaration_{};
};

}  // namespace draftproof::doors
