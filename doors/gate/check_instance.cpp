#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/doors/gate/toy.hpp>

namespace draftproof::doors {

namespace {

template <class I>
void check_taken(const Declaration& declaration, const std::string& text) {
  const auto refused = [](std::string found, std::string wanted) {
    return InputError({.file = "--instance", .found = std::move(found), .wanted = std::move(wanted)});
  };
  std::optional<I> instance;
  try {
    instance = I::parse(text);
  } catch (const std::invalid_argument& error) {
    throw refused(error.what(),
                  fmt::format("an instance of the level {}, as a finding printed it", to_text(declaration.level)));
  }
  if (!takes(declaration, *instance))
    throw refused(instance->text(), "an instance that the declaration of " + declaration.name + " takes");
}

}  // namespace

void check_instance(const Declaration& declaration, const std::string& text) {
  if (declaration.level == Level::position) return check_taken<Instance>(declaration, text);
  check_taken<PathInstance>(declaration, text);
}

}  // namespace draftproof::doors
