#include <draftproof/adapters/wire/dialogue.hpp>

#include <algorithm>
#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <draftproof/captures/input_error.hpp>
#include <draftproof/captures/written_file.hpp>

namespace draftproof::adapters {
namespace {

using Clock = Process::Clock;

constexpr std::string_view more_time = "--adapter-limit SECONDS allows more";

double seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

/// Returns the drafts of a row, such as "(0 2)"; "()" for a request to draft.
std::string drafts_text(const ServedBatch& batch, int row) {
  if (batch.lengths.empty()) return "()";
  const auto first = static_cast<std::size_t>(row) * static_cast<std::size_t>(batch.drafts_a_row);
  const auto length = static_cast<std::size_t>(batch.lengths[static_cast<std::size_t>(row)]);
  return fmt::format("({})", fmt::join(batch.drafts.subspan(first, length), " "));
}

/// Returns the last lines of stderr as one line, without unprintable characters.
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

/// Thrown when the program has ended, did not answer within the limit, or sent something that is not a message or is a
/// reply to another request. By then its processes have been killed, or its connection has been closed.
struct Dialogue::Lost : std::runtime_error {
  Lost(const std::string& why, How from) : std::runtime_error(why), how(from) {}
  How how;
};

Dialogue::Dialogue(Address address, DialogueOptions options)
    : address_(std::move(address)), options_(std::move(options)) {
  connect();
  constexpr int widest_line = 64;
  int& most = declaration_.most_vocabulary;
  if (reader_.form() == Form::lines) most = most == 0 ? widest_line : std::min(most, widest_line);
}

void Dialogue::connect() {
  constexpr std::uint64_t most_hello = std::uint64_t{1} << 20;
  process_ = std::make_unique<Process>(address_, options_.child, Clock::now() + options_.hello_limit);
  reader_ = MessageReader();
  last_id_ = 0;
  try {
    declaration_ = read_declaration(receive({}, {most_hello, most_hello}, "hello", options_.hello_limit).fields);
  } catch (const Lost& lost) {
    process_.reset();
    // `draftproof serve`, which runs libraries and built-in verifiers, has said what is wrong with them.
    constexpr std::string_view own = "exit code 2; stderr ends with: draftproof: adapter: ";
    if (const std::string_view why = lost.what(); why.starts_with(own))
      throw AdapterError(std::string(why.substr(own.size())));
    throw AdapterError(fmt::format("{}: hello: got {}, expected a message, and nothing {} before it", address_.name(),
                                   lost.what(), address_.listens() ? "sent" : "printed"));
  } catch (const ProgramSilent&) {
    throw;
  } catch (const AdapterError& error) {
    process_.reset();
    throw AdapterError(address_.name() + ": " + error.what());
  }
}

void Dialogue::start_again() {
  if (process_) return;
  const Declaration before = declaration_;
  connect();
  declaration_.most_vocabulary = before.most_vocabulary;
  const nlohmann::json now = to_json(declaration_), wanted = to_json(before);
  declaration_ = before;
  if (now != wanted)
    throw AdapterError(fmt::format("{}: hello: got another declaration after a {}, {}, expected {}", address_.name(),
                                   address_.listens() ? "new connection" : "restart", now.dump(), wanted.dump()));
}

void Dialogue::say_goodbye() {
  if (!process_) return;
  constexpr std::chrono::milliseconds to_read{200}, to_end{1000};
  try {
    const EncodedMessage bye({.fields = {{"type", "bye"}}}, reader_.form().value_or(Form::lines));
    process_->exchange(bye.parts(), nullptr, Clock::now() + to_read);
    process_->close_input();
    process_->ended(Clock::now() + to_end);
  } catch (const std::exception&) {
    // An error in sending `bye` does not matter, because ~Process() ends the program in any case.
  }
}

void Dialogue::lose(const std::string& why, How how) {
  const std::string end = process_->end();
  const std::string text = why.empty() ? end : end == Process::by_host ? why : why + ", then " + end;
  throw Lost(text + shown_tail(process_->error_tail()), how);
}

Message Dialogue::receive(Process::Parts parts, ReplyLimit most, const std::string& place,
                          std::chrono::milliseconds limit) {
  std::string why;
  How how = How::ended;
  try {
    reader_.expect(most, place);
    const auto exchanged = process_->exchange(parts, &reader_, Clock::now() + limit, options_.stop);
    if (exchanged == Process::Exchange::done) return reader_.take();
    if (exchanged == Process::Exchange::late && options_.stop && options_.stop->load(std::memory_order_relaxed)) {
      stopped_ = "stopped before the program answered";
      process_.reset();
      throw ProgramSilent(stopped_);
    }
    if (exchanged == Process::Exchange::late)
      lose(fmt::format("no answer in {} s (read so far: {})", seconds(limit), reader_.beginning()), How::late);
    why = process_->ended(Clock::now() + std::chrono::milliseconds(100)) ? "" : "a closed pipe";
  } catch (const ProgramSilent&) {
    throw;
  } catch (const AdapterError& error) {
    why = fmt::format("no message ({})", error.what());
    how = How::invalid;
  }
  lose(why, how);
}

std::chrono::milliseconds Dialogue::limit_for(int rows, bool halved) const {
  // The search for a row on which the program hangs halves the batch, with a request for each half. A part of several
  // rows may get less time, because its rows are later run alone, each with the whole limit.
  if (!halved || rows == 1 || slowest_row_ == 0) return options_.batch_limit;
  constexpr double patience = 100, least_ms = 2000;
  const double usual_ms = 1000 * slowest_row_ * rows;
  return std::min(options_.batch_limit, std::chrono::milliseconds(static_cast<long>(least_ms + patience * usual_ms)));
}

Message Dialogue::reply_to(Message& request, ReplyLimit most, std::chrono::milliseconds limit) {
  if (!stopped_.empty()) throw ProgramSilent(stopped_);
  start_again();
  const std::int64_t id = ++last_id_;
  request.fields["id"] = id;
  const EncodedMessage encoded(request, *reader_.form());
  if (!options_.dump_folder.empty()) dump(encoded.parts());
  Message reply = receive(encoded.parts(), most, "reply", limit);
  const nlohmann::json* const found = reply.field("id");
  if (!found || *found != id)
    lose(fmt::format("a reply to request {} whose id is {}", id, found ? shown_json(*found) : "missing"),
         How::invalid);
  try {
    check_reply_type(reply);
  } catch (const ProgramSilent& silent) {
    stopped_ = silent.what();
    throw;
  }
  return reply;
}

std::filesystem::path Dialogue::dump_file(const std::string& name) const {
  return options_.dump_folder / (name + (reader_.form() == Form::frames ? ".frame" : ".jsonl"));
}

void Dialogue::dump(Process::Parts parts) const {
  const std::filesystem::path file = dump_file("request");
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
      throw AdapterError("request: got a file that cannot be written, " + part.string() +
                         ", expected a writable folder");
  }
  std::filesystem::rename(part, write_target(file).file, error);
  if (error) throw AdapterError(fmt::format("request: {}: {}", file.string(), error.message()));
}

void Dialogue::answer(const ServedBatch& batch, WireFunction ask, ServedResult& result) {
  size_result(batch, ask, result);
  const int most = declaration_.most_rows;
  for (int first = 0; first < batch.rows; first += most) {
    const std::size_t deaths = incidents_.size();
    const int crashed = crashed_rows_, rows = std::min(most, batch.rows - first);
    refused_.clear();
    refused_rows_ = 0;
    answer_part(batch, first, rows, ask, result, false);
    const bool lost = incidents_.size() > deaths && crashed_rows_ == crashed;
    if (!refused_.empty() && refused_rows_ == 0)
      unexplained_.push_back(fmt::format("{} rows: refused: {}", rows, refused_));
    else if (lost && last_ != How::late)  // a batch that took too long says nothing about the program's answers
      unexplained_.push_back(incidents_[deaths]);
    if (!lost || ++unexplained_losses_ < most_crashes) continue;
    if (last_ == How::late)
      throw ProgramSilent(fmt::format("{} batches had no answer within {:g} s, though each row alone had one; {}",
                                      unexplained_losses_, seconds(options_.batch_limit), more_time));
    throw AdapterError(fmt::format("{}: {} in {} batches, but on no row alone; the last time: {}", address_.name(),
                                   last_ == How::invalid ? "no valid answer"
                                   : address_.listens()  ? "lost"
                                                         : "died",
                                   unexplained_losses_, incidents_.back()));
  }
}

void Dialogue::answer_part(const ServedBatch& all, int first, int rows, WireFunction ask, ServedResult& result,
                           bool halved) {
  const ServedBatch batch = slice(all, first, rows);
  std::string why;
  RowStatus status = RowStatus::crashed;
  try {
    Message request = batch_message(batch, ask);
    const auto start = Clock::now();
    const Message reply = reply_to(request, reply_limit(batch, ask), limit_for(rows, halved));
    const std::chrono::duration<double> time = Clock::now() - start;
    read_result(reply, *reader_.form(), batch, ask, declaration_.coin_bits, first, result);
    slowest_row_ = std::max(slowest_row_, time.count() / rows);
    return;
  } catch (const Lost& lost) {
    why = lost.what();
    incidents_.push_back(fmt::format("{} rows: {}", rows, why));
    std::error_code error;
    if (rows == 1 && !options_.dump_folder.empty())
      std::filesystem::copy_file(dump_file("request"), dump_file(fmt::format("crash-{}", crashed_rows_ + 1)),
                                 std::filesystem::copy_options::overwrite_existing, error);
    process_.reset();
    last_ = lost.how;
    if (last_ == How::late && rows == 1)
      throw ProgramSilent(fmt::format("did not answer within {:g} s on drafts {} at V = {}; {}",
                                      seconds(options_.batch_limit), drafts_text(batch, 0), batch.vocabulary,
                                      more_time));
    if (crashed_rows_ >= most_crashes) {
      const bool invalid = last_ == How::invalid && invalid_rows_ == crashed_rows_, listens = address_.listens();
      throw AdapterError(fmt::format("{}: got {} rows {}, drafts {}, and one more{}: {}", address_.name(),
                                     crashed_rows_,
                                     invalid             ? "without a valid answer"
                                     : invalid_rows_ > 0 ? "without an answer"
                                     : listens           ? "that end the connection"
                                                         : "that kill the program",
                                     fmt::join(killers_, ", "),
                                     invalid   ? ""
                                     : listens ? " loss"
                                               : " death",
                                     why));
    }
  } catch (const BatchRefused& refused) {
    why = refused_ = refused.what();
    status = RowStatus::failed;
  }
  if (rows == 1) {
    if (status == RowStatus::crashed) {
      ++crashed_rows_;
      invalid_rows_ += last_ == How::invalid ? 1 : 0;
      killers_.push_back(drafts_text(batch, 0));
    } else {
      ++refused_rows_;
    }
    return result.set(first, status, why);
  }
  const int half = rows / 2;
  answer_part(all, first, half, ask, result, true);
  answer_part(all, first + half, rows - half, ask, result, true);
}

Message Dialogue::ask(Message& request, ReplyLimit most) {
  try {
    return reply_to(request, most, options_.batch_limit);
  } catch (const Lost& lost) {
    incidents_.emplace_back(lost.what());
    process_.reset();
    if (lost.how == How::late)
      throw ProgramSilent(fmt::format("did not answer within {:g} s; {}", seconds(options_.batch_limit), more_time));
    // The text is the evidence of a finding, and the address may contain the name of a temporary folder, which differs
    // from run to run.
    const std::string text = fmt::format("{}: {}", request.fields["type"].dump(), lost.what());
    if (lost.how == How::ended) throw RequestFailed(text);
    throw AdapterError(fmt::format("{}: {}", address_.name(), text));
  } catch (const BatchRefused& refused) {
    throw RequestFailed(fmt::format("{}: refused: {}", request.fields["type"].dump(), refused.what()));
  }
}

}  // namespace draftproof::adapters
