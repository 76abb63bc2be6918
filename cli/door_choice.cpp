#include <draftproof/cli/door_choice.hpp>

#include <CLI/CLI.hpp>

namespace draftproof {

void DoorChoice::declare(CLI::App& app) {
  app.add_option("--door", doors,
                 "a verifier in a program of its own: 'exec:COMMAND' speaks the protocol of docs/doors.md, 'lib:PATH' "
                 "exports draftproof_door");
}

std::vector<doors::OpenDoor> DoorChoice::open() const {
  std::vector<doors::OpenDoor> opened;
  for (const std::string& door : doors) opened.push_back(doors::open_door(door));
  return opened;
}

}  // namespace draftproof
