#include <draftproof/adapters/wire/serve.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/uio.h>
#include <unistd.h>

#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/message_reader.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>
#include <draftproof/adapters/wire/shared_rows.hpp>

namespace draftproof::adapters {
namespace {

/// Frames on two descriptors that block.
class FrameChannel {
 public:
  FrameChannel(int input, int output) : input_(input), output_(output) {}

  /// The next message, or nothing at the end of the input.
  std::optional<Message> receive() {
    constexpr std::uint64_t most = most_array_bytes + (std::uint64_t{1} << 30);
    constexpr std::size_t at_once = std::size_t{1} << 18;  // part of a pipe: the host refills it meanwhile
    reader_.expect({most, 0}, "request");
    bool any = false;
    while (!reader_.complete()) {
      const auto room = reader_.room();
      const auto size = read(input_, room.data(), std::min(room.size(), at_once));
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) throw DoorError(fmt::format("request: {}", std::strerror(errno)));
      if (size == 0 && any) throw DoorError("request: found the end of the input inside a frame");
      if (size == 0) return std::nullopt;
      any = true;
      reader_.filled(static_cast<std::size_t>(size));
    }
    return reader_.take();
  }

  void send(const Message& message) {
    std::vector<const Tensor*> order;
    const std::string head = frame_head(message, order);
    write_all(std::as_bytes(std::span(head)));
    for (const Tensor* tensor : order) write_all(tensor->bytes);
    flush();
  }

 private:
  /// Small parts go out together.
  void write_all(std::span<const std::byte> bytes) {
    constexpr std::size_t together = std::size_t{1} << 16;
    if (bytes.size() < together) {
      pending_.insert(pending_.end(), bytes.begin(), bytes.end());
      if (pending_.size() >= together) flush();
      return;
    }
    flush();
    put(bytes);
  }
  void flush() {
    put(pending_);
    pending_.clear();
  }
  void put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto size = write(output_, bytes.data(), bytes.size());
      if (size < 0 && errno != EINTR) throw DoorError(fmt::format("reply: {}", std::strerror(errno)));
      if (size > 0) bytes = bytes.subspan(static_cast<std::size_t>(size));
    }
  }

  int input_, output_;
  MessageReader reader_;
  std::vector<std::byte> pending_;
};

DoorError request_fault(std::string_view field, const std::string& found, const std::string& wanted) {
  return DoorError(fmt::format("request: {}: found {}, wanted {}", field, found, wanted));
}

int number_field(const nlohmann::json& fields, const char* name) {
  const auto found = fields.find(name);
  const bool good = found != fields.end() && found->is_number_integer() && *found >= 0 &&
                    *found <= std::numeric_limits<std::int32_t>::max();
  if (!good) throw request_fault(name, found == fields.end() ? "nothing" : found->dump(), "a whole number");
  return found->get<int>();
}

template <class T>
T named_field(const nlohmann::json& fields, const char* name, std::initializer_list<T> values) {
  const auto found = fields.find(name);
  for (const T value : values)
    if (found != fields.end() && found->is_string() && found->get_ref<const std::string&>() == to_text(value))
      return value;
  throw request_fault(name, found == fields.end() ? "nothing" : found->dump(), "a name of the protocol");
}

const Tensor& tensor_field(const Message& message, const char* name, std::size_t dimensions) {
  const Tensor* found = message.find(name);
  const bool good = found && found->shape.size() == dimensions &&
                    std::all_of(found->shape.begin(), found->shape.end(), [](std::uint64_t extent) {
                      return extent <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
                    });
  if (!good)
    throw request_fault(name, found ? "shape " + shape_text(found->shape) : "nothing",
                        fmt::format("an array of {} dimensions", dimensions));
  return *found;
}

template <class T>
std::span<const T> list_field(const Message& message, const char* name, std::size_t dimensions, DType dtype) {
  const Tensor& found = tensor_field(message, name, dimensions);
  if (found.dtype != dtype)
    throw request_fault(name, std::string(to_string(found.dtype)), std::string(to_string(dtype)));
  return found.as<T>();
}

int extent(const Tensor& tensor, std::size_t dimension) { return static_cast<int>(tensor.shape[dimension]); }

ServedBatch read_batch(const Message& message, WireFunction ask, Level level, int state_size) {
  ServedBatch batch;
  batch.vocabulary = number_field(message.fields, "vocabulary");
  batch.kind = named_field(message.fields, "kind", {RowKind::probabilities, RowKind::logits});
  batch.randomness =
      named_field(message.fields, "randomness", {Randomness::scripted, Randomness::seeded, Randomness::opaque});
  const Tensor& q = tensor_field(message, "q", 3);
  batch.rows = extent(q, 0);
  batch.proposal_rows = extent(q, 1);
  batch.q = q.bytes;
  if (ask == WireFunction::verify) {
    const Tensor& p = tensor_field(message, "p", 3);
    batch.target_rows = extent(p, 1);
    batch.p = p.bytes;
    batch.drafts = list_field<std::int32_t>(message, "drafts", 2, DType::I32);
    batch.drafts_a_row = extent(*message.find("drafts"), 1);
    batch.lengths = list_field<std::int32_t>(message, "lengths", 1, DType::I32);
    if (level == Level::tree && batch.drafts_a_row > 0)
      batch.parents = list_field<std::int32_t>(message, "parents", 2, DType::I32);
    if (p.dtype != q.dtype) throw request_fault("q", std::string(to_string(q.dtype)), "the type of p");
  } else {
    batch.drafts_a_row = number_field(message.fields, "drafts");
  }
  const std::array types{Dtype::float32, Dtype::float64, Dtype::float16, Dtype::bfloat16};
  const auto type = std::find_if(types.begin(), types.end(), [&](Dtype each) { return array_type(each) == q.dtype; });
  if (type == types.end()) throw request_fault("q", std::string(to_string(q.dtype)), "floating-point numbers");
  batch.dtype = *type;
  if (batch.randomness == Randomness::scripted) {
    batch.tape = list_field<double>(message, "tape", 2, DType::F64);
    batch.places = extent(*message.find("tape"), 1);
  }
  if (batch.randomness == Randomness::seeded) batch.seeds = list_field<std::int64_t>(message, "seeds", 1, DType::I64);
  if (ask == WireFunction::verify && state_size > 0) {
    batch.state = list_field<double>(message, "state", 2, DType::F64);
    batch.state_size = extent(*message.find("state"), 1);
    if (batch.state_size != state_size)
      throw request_fault("state", fmt::format("{} numbers a row", batch.state_size),
                          fmt::format("the {} that are declared", state_size));
  }
  check_shapes(batch, ask, level, "request");
  return batch;
}

Message answer_batch(Served& served, const Message& request, WireFunction ask, bool mapped, ServedResult& result) {
  ServedBatch batch = read_batch(request, ask, served.declaration().level, served.declaration().state_size);
  batch.mapped = mapped;
  size_result(batch, ask, result);
  if (ask == WireFunction::verify)
    served.verify(batch, result);
  else
    served.draft(batch, result);
  Message reply{.fields = {{"type", "result"}}};
  const auto b = static_cast<std::uint64_t>(batch.rows), w = static_cast<std::uint64_t>(result.tokens_a_row);
  const auto integers = [](const std::vector<std::int32_t>& list) { return std::span<const std::int32_t>(list); };
  reply.tensors = {tensor_of("tokens", {b, w}, integers(result.tokens)),
                   tensor_of("counts", {b}, integers(result.counts)),
                   tensor_of("status", {b}, integers(result.status))};
  if (result.state_size > 0)
    reply.tensors.push_back(tensor_of("state", {b, static_cast<std::uint64_t>(result.state_size)},
                                      std::span<const double>(result.state)));
  for (const auto& [row, text] : result.messages) reply.fields["messages"][std::to_string(row)] = text;
  if (batch.randomness != Randomness::scripted) return reply;
  const ServedLog& log = result.log;
  reply.fields["streams"] = log.streams();
  reply.tensors.push_back(tensor_of("draw_counts", {log.counts().size()}, log.counts()));
  reply.tensors.push_back(tensor_of("draws", {log.draws().size() / 4, 4}, log.draws()));
  reply.tensors.push_back(tensor_of("weights", {log.weights().size()}, log.weights()));
  return reply;
}

/// Keeps freed memory for the next request: many verifiers take and free a copy of each row, and memory that went back to
/// the system in between costs a fault for each page.
void keep_freed_memory() {
  constexpr int kept = 256 << 20, least_mapped = 32 << 20;  // the largest that malloc takes for the second
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_MMAP_THRESHOLD, least_mapped);
}

Message answer_models(Served& served, const Message& request, std::vector<std::int32_t>& text) {
  ServedModels models{.length = number_field(request.fields, "length"),
                      .drafts = number_field(request.fields, "drafts")};
  const auto seed = request.fields.find("seed");
  if (seed == request.fields.end() || !seed->is_number_integer())
    throw request_fault("seed", "no number", "a whole number");
  models.seed = seed->get<std::int64_t>();
  models.target = list_field<double>(request, "target", 2, DType::F64);
  models.proposal = list_field<double>(request, "proposal", 2, DType::F64);
  const Tensor& table = *request.find("target");
  models.vocabulary = extent(table, 0);
  if (table.shape[0] != table.shape[1] || request.find("proposal")->shape != table.shape)
    throw request_fault("target", shape_text(table.shape), "[V, V], as proposal");
  text = served.generate(models);
  Message reply{.fields = {{"type", "result"}}};
  reply.tensors = {tensor_of("tokens", {1, text.size()}, std::span<const std::int32_t>(text))};
  return reply;
}

}  // namespace

void serve(Served& served, int input, int output) {
  const int in = fcntl(input, F_DUPFD_CLOEXEC, 3), out = fcntl(output, F_DUPFD_CLOEXEC, 3);
  if (in < 0 || out < 0) throw DoorError(fmt::format("serving: {}", std::strerror(errno)));
  if (output == STDOUT_FILENO) dup2(STDERR_FILENO, STDOUT_FILENO);
  std::cout.flush();  // what was printed so far goes there too
  std::fflush(stdout);
  std::signal(SIGPIPE, SIG_IGN);
  keep_freed_memory();
  FrameChannel channel(in, out);
  nlohmann::json hello = to_json(served.declaration());
  offer_shared_rows(hello);
  if (served.declaration().stateful()) hello["version"] = {1, 2};
  channel.send({.fields = std::move(hello)});
  MappedRows shared;
  ServedResult result;
  std::vector<std::int32_t> text;
  while (auto request = channel.receive()) {
    const auto type = request->fields.find("type");
    const std::string asked = type != request->fields.end() && type->is_string() ? type->get<std::string>() : "";
    if (asked == "bye") break;
    Message reply;
    try {
      const bool mapped = shared.add_to(*request);
      if (asked == "verify" || asked == "draft")
        reply = answer_batch(served, *request, asked == "verify" ? WireFunction::verify : WireFunction::draft, mapped,
                             result);
      else if (asked == "generate")
        reply = answer_models(served, *request, text);
      else
        throw request_fault("type", type == request->fields.end() ? "nothing" : type->dump(),
                            "verify, draft, generate or bye");
    } catch (const Unmapped& error) {
      reply = {.fields = {{"type", "error"}, {"message", error.what()}, {"unmapped", true}}};
    } catch (const std::exception& error) {
      reply = {.fields = {{"type", "error"}, {"message", error.what()}}};
    }
    reply.fields["id"] = request->fields.value("id", nlohmann::json());
    channel.send(reply);
  }
  close(in);
  close(out);
}

}  // namespace draftproof::adapters
