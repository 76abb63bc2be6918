// An adapter to a verifier in a shared library of the C interface (draftproof_adapter.h): requests of the wire
// protocol become calls of its functions, and tapes become its callbacks.
//
// Checks of every call, each of which ends in an error of the batch or in a status of the row:
//   outputs    are filled with a pattern before the call, between guards that detect writes beyond them
//   inputs     are copies, which are compared with the originals after the call
//   counts     must fit the row, and every status must be known
//   tape       a row that draws past its tape gets the status tape_short, whatever the library returns
//
// The library runs in the process that loads it, and a crash of the library ends this process. draftproof therefore
// loads it in a child process that uses the wire protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <draftproof/adapters/draftproof_adapter.h>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

struct LibraryOptions {
  std::string create = "{}";  ///< JSON object for the library's `create`
};

/// Loads the library at `path`. Throws: AdapterError with path, found and expected value.
std::unique_ptr<Served> load_library(const std::string& path, const LibraryOptions& options = {});
/// As above, for a library that is already linked: `adapter` is its draftproof_adapter, `name` replaces the path in
/// messages.
std::unique_ptr<Served> linked_library(const std::string& name, const dp_verifier* (*adapter)(std::uint32_t abi),
                                       const LibraryOptions& options = {});

}  // namespace draftproof::adapters
