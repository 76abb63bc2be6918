// Adapters by name, as --adapter takes them.
//
//   exec:COMMAND   a child process, `sh -c COMMAND`, that implements the protocol (docs/adapters-protocol.md)
//   socket:PATH    a program that listens on a Unix stream socket and implements the same protocol
//   lib:PATH       a shared library with the C interface (draftproof_adapter.h), loaded in a child of this program
//   built-in:NAME  a registered verifier, mutant or lossy scheme, in a child of this program
//   abi:NAME       as built-in:NAME, but behind the C interface
//   lower-bound:   a program that reads no row, to measure the cost of an adapter alone
#pragma once

#include <memory>
#include <string>

#include <draftproof/adapters/program.hpp>
#include <draftproof/adapters/wire/served.hpp>
#include <draftproof/adapters/wire/wire_program.hpp>

namespace draftproof::adapters {

/// One program behind two interfaces: Program calls it with random numbers chosen by the host; Served passes batches to
/// it unchanged.
struct OpenAdapter {
  std::string text;
  std::shared_ptr<Program> program;
  std::shared_ptr<Served> served;
  FreshProgram fresh;  ///< empty for a socket, whose program cannot be restarted
};

/// Opens an adapter. Throws: InputError if `text` does not name an adapter; AdapterError if the program does not answer
/// or its draft sampling is unknown.
OpenAdapter open_adapter(const std::string& text, const WireOptions& options = {});

/// Returns the verifier for `draftproof serve`: `text` is lib:PATH, built-in:NAME, abi:NAME, lower-bound: or NAME.
/// Throws: AdapterError.
std::unique_ptr<Served> served_here(const std::string& text);

}  // namespace draftproof::adapters
