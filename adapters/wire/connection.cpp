#include <draftproof/adapters/wire/connection.hpp>

#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include <draftproof/adapters/wire/json_lines.hpp>
#include <draftproof/adapters/wire/shared_rows.hpp>
#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>

namespace draftproof::adapters {
namespace {

/// The parts that carry `message`: `head` holds the first.
std::vector<std::span<const std::byte>> parts_of(const Message& message, Form form, std::string& head) {
  std::vector<const Tensor*> order;
  head = form == Form::frames ? frame_head(message, order) : encode_line(message);
  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(head))};
  for (const Tensor* tensor : order)
    if (!tensor->bytes.empty()) parts.push_back(tensor->bytes);
  return parts;
}

/// Whether `reply` says that the region could not be mapped.
bool is_unmapped(const Message& reply) {
  const auto type = reply.fields.find("type"), unmapped = reply.fields.find("unmapped");
  return type != reply.fields.end() && *type == "error" && unmapped != reply.fields.end() && *unmapped == true;
}

/// The last lines of stderr on one line, without what cannot be printed.
std::string shown_tail(std::string_view tail) {
  constexpr std::size_t longest = 400;
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == ' ')) tail.remove_suffix(1);
  const bool cut = tail.size() > longest;
  std::string text(cut ? tail.substr(tail.size() - longest) : tail);
  for (char& c : text)
    if (c < ' ' || c > '~') c = c == '\n' ? '|' : '?';
  return text.empty() ? text : fmt::format("; stderr ends with: {}{}", cut ? ".." : "", text);
}

}  // namespace

Connection::Connection(Address address, ConnectionOptions options, SharedRegion* region)
    : address_(std::move(address)),
      options_(std::move(options)),
      region_(region),
      peer_(open_peer(address_, options_.child, Peer::Clock::now() + options_.hello_limit)) {
  constexpr std::uint64_t most_hello = std::uint64_t{1} << 20;
  try {
    const Message hello = receive({}, {most_hello, most_hello}, "hello", options_.hello_limit);
    declaration_ = read_declaration(hello.fields);
    if (form() == Form::lines || !takes_shared_rows(hello.fields)) region_ = nullptr;
  } catch (const ChildLost& lost) {
    throw DoorError(fmt::format("{}: hello: found {}, wanted a message, and nothing {} before it", address_.name(),
                                lost.what(), address_.listens() ? "sent" : "printed"));
  } catch (const DoorError& error) {
    throw DoorError(address_.name() + ": " + error.what());
  }
}

Connection::~Connection() {
  constexpr std::chrono::milliseconds to_read{200}, to_end{1000};
  try {
    Message bye{.fields = {{"type", "bye"}}};
    std::string head;
    peer_->exchange(parts_of(bye, reader_.form().value_or(Form::lines), head), nullptr, Peer::Clock::now() + to_read);
    peer_->close_input();
    peer_->ended(Peer::Clock::now() + to_end);
  } catch (const std::exception&) {
    // Its end follows all the same.
  }
}

void Connection::lose(const std::string& why, bool late) {
  const std::string how = peer_->end();
  const std::string text = why.empty() ? how : how == Peer::by_host ? why : why + ", then " + how;
  if (late) throw ChildLate(text + shown_tail(peer_->error_tail()));
  throw ChildLost(text + shown_tail(peer_->error_tail()));
}

Message Connection::receive(std::span<const std::span<const std::byte>> parts, ReplyLimit most,
                            const std::string& place, std::chrono::milliseconds limit) {
  std::string why;
  bool late = false;
  try {
    reader_.expect(most, place);
    switch (peer_->exchange(parts, &reader_, Peer::Clock::now() + limit)) {
      case Peer::Exchange::done:
        return reader_.take();
      case Peer::Exchange::late:
        late = true;
        why = fmt::format("no answer in {} s (read so far: {})", static_cast<double>(limit.count()) / 1000,
                          reader_.beginning());
        break;
      case Peer::Exchange::closed:
        lose(peer_->ended(Peer::Clock::now() + std::chrono::milliseconds(100)) ? "" : "a closed pipe");
    }
  } catch (const DoorError& error) {
    why = fmt::format("no message ({})", error.what());
  }
  lose(why, late);
}

Message Connection::ask(Message& request, ReplyLimit most, std::chrono::milliseconds limit) {
  const std::int64_t id = ++last_id_;
  request.fields["id"] = id;
  std::string head;
  if (!options_.dump_folder.empty()) dump(parts_of(request, form(), head));
  Message shared;
  const bool shares = region_ != nullptr && share_rows(request, *region_, shared);
  const auto parts = parts_of(shares ? shared : request, form(), head);
  Message reply = receive(parts, most, "reply", limit);
  const auto found = reply.fields.find("id");
  if (found == reply.fields.end() || *found != id)
    lose(fmt::format("no answer to request {}, but the id {}", id,
                     found == reply.fields.end() ? "missing" : in_quotes(json_text(*found))));
  if (!shares || !is_unmapped(reply)) return reply;
  region_ = nullptr;
  return ask(request, most, limit);
}

std::filesystem::path Connection::dump_file() const {
  if (options_.dump_folder.empty()) return {};
  return options_.dump_folder / (form() == Form::frames ? "request.frame" : "request.jsonl");
}

void Connection::dump(std::span<const std::span<const std::byte>> parts) const {
  const std::filesystem::path file = dump_file();
  std::filesystem::path part = file;
  part += ".part";
  std::error_code error;
  std::filesystem::create_directories(options_.dump_folder, error);
  {
    std::ofstream stream(part, std::ios::binary | std::ios::trunc);
    for (const auto bytes : parts)
      stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    stream.flush();
    if (!stream)
      throw DoorError("request: found no way to write " + part.string() + ", wanted a folder for requests");
  }
  std::filesystem::rename(part, write_target(file).file, error);
  if (error) throw DoorError(fmt::format("request: {}: {}", file.string(), error.message()));
}

}  // namespace draftproof::adapters
