// The option --door of commands: programs that are not compiled into this one, judged through the same gate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <draftproof/doors/gate/foreign_gate.hpp>
#include <draftproof/doors/open_door.hpp>

namespace CLI {
class App;
}

namespace draftproof {

struct DoorChoice {
  std::vector<std::string> doors;

  /// Adds --door to a command.
  void declare(CLI::App& app);
  /// Opens the doors. Throws: InputError for a text that is no door; DoorError for a program that does not answer.
  std::vector<doors::OpenDoor> open() const;
};

}  // namespace draftproof
