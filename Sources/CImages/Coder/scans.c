// Scan writing: from tokens to the bits of a scan.

#include <string.h>

#include "internal.h"

/// The maximum number of bytes for a token: 16 + 19 bits, each 0xff byte followed by a stuffed zero.
enum { max_bytes_per_token = 9 };

/// Writes the eight bytes of a full buffer.
CJPEGCODER_SHARED_BODY uint8_t *write_word(uint8_t *bytes, uint64_t word) {
  // A 0xff byte has its top bit set and loses it when one is added. No other byte does, unless a carry comes from a
  // 0xff byte below it.
  if (word & UINT64_C(0x8080808080808080) & ~(word + UINT64_C(0x0101010101010101))) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      uint8_t byte = (uint8_t)(word >> shift);
      *bytes++ = byte;
      if (byte == 0xff) { *bytes++ = 0; }
    }
    return bytes;
  }
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  memcpy(bytes, &word, sizeof word);
  return bytes + sizeof word;
}

/// The body of both variants of cjpegcoder_emit.
CJPEGCODER_SHARED_BODY void emit(cjpegcoder_bits *sink, const cjpegcoder_token *tokens, size_t count,
                                 const uint32_t *codes) {
  uint8_t *bytes = sink->bytes;
  uint64_t buffer = sink->bits;
  int room = sink->room;
  for (size_t index = 0; index < count; index++) {
    const cjpegcoder_token token = tokens[index];
    const uint32_t code = codes[token & 0xff];
    const unsigned extra = token >> 8 & 31;
    const uint64_t bits = (uint64_t)(code >> 5) << extra | token >> 13;
    const int total = (int)((code & 31) + extra);
    room -= total;
    if (room < 0) {
      bytes = write_word(bytes, buffer << (total + room) | bits >> -room);
      // Bits already written stay above the new ones; they are shifted out before the buffer is full again.
      buffer = bits;
      room += 64;
    } else {
      buffer = buffer << total | bits;
    }
  }
  sink->bytes = bytes;
  sink->bits = buffer;
  sink->room = room;
}

void cjpegcoder_emit_portable(cjpegcoder_bits *sink, const cjpegcoder_token *tokens, size_t count,
                              const uint32_t *codes) {
  emit(sink, tokens, count, codes);
}

#if defined(__x86_64__)
CJPEGCODER_FAST_TARGET
void cjpegcoder_emit_fast(cjpegcoder_bits *sink, const cjpegcoder_token *tokens, size_t count,
                          const uint32_t *codes) {
  emit(sink, tokens, count, codes);
}
#endif

/// Writes the remaining bits, padded with ones to a full byte (T.81 F.1.2.3).
static void finish_bits(cjpegcoder_bits *sink) {
  int left = 64 - sink->room, padding = -left & 7;
  uint64_t bits = sink->bits << padding | ((1u << padding) - 1);
  for (int shift = left + padding - 8; shift >= 0; shift -= 8) {
    uint8_t byte = (uint8_t)(bits >> shift);
    *sink->bytes++ = byte;
    if (byte == 0xff) { *sink->bytes++ = 0; }
  }
}

/// Builds the tables of a scan, writes them and looks up their codes.
static bool write_tables(cjpegcoder_buffer *out, const cjpegcoder_stream *stream, uint32_t *codes) {
  cjpegcoder_huffman huffman;
  if (stream->scan.kind != CJPEGCODER_DC_SCAN) {
    cjpegcoder_huffman_build(&huffman, stream->counts, 256);
    cjpegcoder_huffman_codes(&huffman, codes);
    return cjpegcoder_write_huffman(out, 0x10 | (stream->scan.component ? 1 : 0), &huffman);
  }
  for (int table = 0; table < 2; table++) {
    int offset = table * CJPEGCODER_CHROMA_DC;
    cjpegcoder_huffman_build(&huffman, stream->counts + offset, CJPEGCODER_CHROMA_DC);
    cjpegcoder_huffman_codes(&huffman, codes + offset);
    if (!cjpegcoder_write_huffman(out, table, &huffman)) { return false; }
  }
  return true;
}

bool cjpegcoder_write_scan(cjpegcoder_buffer *out, cjpegcoder_stream *stream, cjpegcoder_emit *emit) {
  // Tokens that contain only bits have a code of length 0.
  uint32_t codes[256] = {0};
  if (!write_tables(out, stream, codes) || !cjpegcoder_write_scan_header(out, &stream->scan)) { return false; }
  cjpegcoder_bits sink = {NULL, 0, 64};
  for (const cjpegcoder_chunk *chunk = stream->first_chunk; chunk; chunk = chunk->next) {
    // The bit buffer may still hold 64 bits, which may need stuffing.
    if (!cjpegcoder_reserve(out, chunk->count * max_bytes_per_token + 32)) { return false; }
    sink.bytes = out->bytes + out->count;
    emit(&sink, chunk->tokens, chunk->count, codes);
    if (!chunk->next) { finish_bits(&sink); }
    out->count = (size_t)(sink.bytes - out->bytes);
  }
  cjpegcoder_stream_free(stream);
  return true;
}
