// A verifier in a shared library of the C adapter (draftproof_adapter.h) as an adapter: requests of the wire become
// calls of its functions, tapes become its callbacks.
//
// Checks of every call, each of which ends in an error of the batch or in a status of the row:
//   outputs    filled with a pattern before the call, between guards: writes beyond them are found
//   inputs     the library gets copies, which are compared with the originals afterwards
//   counts     within the row, and every status a known one
//   tape       a row that draws past its tape has the status tape_short, whatever the library says
//
// The library runs in the calling process, and its crash is the caller's. Programs load it in a child that speaks the
// wire.
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

/// Loads the library at `path`. Throws: AdapterError, which names the path, what was found and what was wanted.
std::unique_ptr<Served> load_library(const std::string& path, const LibraryOptions& options = {});
/// The same for a library that is already linked: `adapter` is its draftproof_adapter, `name` replaces the path in
/// messages.
std::unique_ptr<Served> linked_library(const std::string& name, const dp_verifier* (*adapter)(std::uint32_t abi),
                                       const LibraryOptions& options = {});

}  // namespace draftproof::adapters
