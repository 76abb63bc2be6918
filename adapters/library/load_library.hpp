// A verifier in a shared library of the C door (draftproof_door.h) as a door: requests of the wire become calls of
// its functions, tapes become its callbacks.
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

#include <draftproof/adapters/draftproof_door.h>
#include <draftproof/adapters/wire/served.hpp>

namespace draftproof::adapters {

struct LibraryOptions {
  std::string create = "{}";  ///< JSON object for the library's `create`
};

/// Loads the library at `path`. Throws: DoorError, which names the path, what was found and what was wanted.
std::unique_ptr<Served> load_library(const std::string& path, const LibraryOptions& options = {});
/// The same of a library that is linked already: `door` is its draftproof_door, `name` stands for the path in
/// messages.
std::unique_ptr<Served> linked_library(const std::string& name, const dp_verifier* (*door)(std::uint32_t abi),
                                       const LibraryOptions& options = {});

}  // namespace draftproof::adapters
