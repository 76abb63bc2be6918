// Doors by name, as --door takes them.
//
//   exec:COMMAND   a child process, `sh -c COMMAND`, that speaks the protocol (docs/doors-protocol.md)
//   socket:PATH    a program that listens on a Unix stream socket and speaks the same protocol
//   lib:PATH       a shared library with the C interface (draftproof_door.h), loaded in a child of this program
//   own:NAME       a registered verifier, mutant or lossy scheme, in a child of this program
//   abi:NAME       the same behind the C interface
//   floor:         a program that reads no row, for the cost of a door alone
#pragma once

#include <memory>
#include <string>

#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/adapters/wire/wire_program.hpp>

namespace draftproof::adapters {

/// Two sides of one program: scripted calls, and batches as they are.
struct OpenDoor {
  std::string text;
  std::shared_ptr<Program> program;
  std::shared_ptr<Served> served;
  FreshProgram fresh;  ///< empty for a socket, because the program that listens has had calls already
};

/// Throws: InputError for a text that is no door, DoorError for a program that does not answer, or whose
/// draft law is not known.
OpenDoor open_door(const std::string& text, const WireOptions& options = {});

/// What `draftproof serve` answers with: `text` is lib:PATH, own:NAME, abi:NAME, floor: or NAME. Throws: DoorError.
std::unique_ptr<Served> served_here(const std::string& text);

}  // namespace draftproof::adapters
