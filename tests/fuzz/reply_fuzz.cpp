// Reads the replies of an external program, in frames or lines: its declaration, then the result of a batch.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <draftproof/adapters/declaration.hpp>
#include <draftproof/adapters/wire/batch_packer.hpp>
#include <draftproof/adapters/wire/message.hpp>
#include <draftproof/adapters/wire/result_reader.hpp>

#include "fuzz_file.hpp"

namespace {

using namespace draftproof::adapters;

/// Returns the next message of the bytes. Throws AdapterError if it is incomplete.
Message next(MessageReader& reader, std::span<const std::byte>& bytes, ReplyLimit most) {
  reader.expect(most, "reply");
  while (!reader.complete()) {
    const std::span<std::byte> room = reader.room();
    const std::size_t count = std::min(room.size(), bytes.size());
    if (count == 0) throw AdapterError("the program ended");
    std::copy_n(bytes.begin(), count, room.begin());
    bytes = bytes.subspan(count);
    reader.filled(count);
  }
  return reader.take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<float> rows(12, 1.0f / 3);
  static const std::vector<double> tape{0.25, 0.5, 0.125, 0.75};
  static const std::vector<std::int32_t> drafts{0, 2}, lengths{1, 1};
  ServedBatch batch{.rows = 2, .vocabulary = 3, .drafts_a_row = 1, .target_rows = 2, .proposal_rows = 1, .places = 2};
  batch.p = std::as_bytes(std::span(rows));
  batch.q = batch.p.first(6 * sizeof(float));
  batch.drafts = drafts;
  batch.lengths = lengths;
  batch.tape = tape;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::span<const std::byte> bytes(first, first + size);
  try {
    MessageReader reader;
    const Declaration declaration = read_declaration(next(reader, bytes, {1 << 16, 1 << 16}).fields);
    const Declaration again = read_declaration(to_json(declaration));
    draftproof::fuzz::demand(again.name == declaration.name && again.dtypes == declaration.dtypes);
    ServedResult result;
    size_result(batch, WireFunction::verify, result);
    const Message reply = next(reader, bytes, reply_limit(batch, WireFunction::verify));
    check_reply_type(reply);
    read_result(reply, *reader.form(), batch, WireFunction::verify, declaration.coin_bits, 0, result);
  } catch (const AdapterError&) {
  } catch (const BatchRefused&) {
  }
  return 0;
}
