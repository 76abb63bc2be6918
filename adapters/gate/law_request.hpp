// The inputs of `draftproof law`, as a JSON document:
//
//   {"inputs": [{"p": [[..], ..], "q": [[..], ..], "drafts": [..], "parents": [..]}, ..],
//    "predictions": 256, "seed": 1}
//
// Shapes are those of Input at the level that the program declares; "parents" is there for trees alone. The last two
// fields may be left out.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/program.hpp>

namespace draftproof::adapters {

struct LawRequest {
  std::vector<Input> inputs{};
  std::optional<int> predictions{};
  std::optional<std::uint64_t> seed{};
};

/// Reads a request for a program of this declaration; rows need no sum of 1. `file` names the stream in errors.
/// Throws: InputError with the number of the input, the field, the row and the token: for text that is no JSON, shapes
/// that are not the level's, entries that are negative or not finite, drafts that are no tokens, parents that do not
/// stand before their children, and inputs beyond what the program declares.
LawRequest read_law_request(std::istream& stream, const std::string& file, const Declaration& declaration);

}  // namespace draftproof::adapters
