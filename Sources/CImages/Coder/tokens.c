// Token streams: each collects the symbols of one scan and the bits that follow their codes.

#include <stdlib.h>

#include "internal.h"

enum {
  /// An upper bound of the tokens that one block adds to an AC stream: 63 coefficients, three runs of sixteen zeros,
  /// one end-of-band run, and separate tokens for at most 63 + 18 correction bits.
  max_tokens_per_block = 80,
  /// The maximum length of an end-of-band run (T.81 G.1.2.2).
  max_run = 0x7fff,
  /// The symbol of sixteen zeros.
  sixteen_zeros = 0xf0
};

// MARK: Streams

bool cjpegcoder_stream_grow(cjpegcoder_stream *stream) {
  cjpegcoder_chunk *chunk = malloc(sizeof *chunk);
  if (!chunk) { return false; }
  chunk->next = NULL;
  chunk->count = 0;
  if (stream->last_chunk) {
    stream->last_chunk->count = (size_t)(stream->cursor - stream->last_chunk->tokens);
    stream->last_chunk->next = chunk;
  } else {
    stream->first_chunk = chunk;
  }
  stream->last_chunk = chunk;
  stream->cursor = chunk->tokens;
  stream->end = chunk->tokens + CJPEGCODER_CHUNK_TOKENS;
  return true;
}

void cjpegcoder_stream_free(cjpegcoder_stream *stream) {
  cjpegcoder_chunk *chunk = stream->first_chunk;
  while (chunk) {
    cjpegcoder_chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
  stream->first_chunk = stream->last_chunk = NULL;
  stream->cursor = stream->end = stream->run_token = NULL;
}

/// Reserves space for `tokens` tokens; false when memory is exhausted.
CJPEGCODER_SHARED_BODY bool make_room(cjpegcoder_stream *stream, ptrdiff_t tokens) {
  return stream->end - stream->cursor >= tokens || cjpegcoder_stream_grow(stream);
}

/// Returns a token of a symbol and the bits that follow it.
CJPEGCODER_SHARED_BODY cjpegcoder_token make_token(unsigned symbol, unsigned count, uint32_t bits) {
  return symbol | count << 8 | bits << 13;
}

/// The number of bits of a nonzero magnitude, which is its category in T.81 table F.1.
CJPEGCODER_SHARED_BODY unsigned bits_of(uint32_t magnitude) {
  return 32 - (unsigned)__builtin_clz(magnitude);
}

// MARK: End-of-band runs (T.81 G.1.2.2 and G.1.2.3)

/// Adds a token with the pending correction bits.
CJPEGCODER_SHARED_BODY void flush_corrections(cjpegcoder_stream *stream) {
  *stream->cursor++ = make_token(CJPEGCODER_NO_SYMBOL, stream->pending_count, stream->pending);
  stream->pending = stream->pending_count = 0;
}

/// Completes the token reserved for the current run, whose length is now known.
CJPEGCODER_SHARED_BODY void finish_run(cjpegcoder_stream *stream) {
  unsigned category = bits_of(stream->run_length) - 1, symbol = category << 4;
  *stream->run_token = make_token(symbol, category, stream->run_length & ((1u << category) - 1));
  stream->counts[symbol]++;
  stream->run_length = 0;
  if (stream->pending_count) { flush_corrections(stream); }
}

/// Adds a block to the current run, or starts a run and reserves the position of its token.
CJPEGCODER_SHARED_BODY void extend_run(cjpegcoder_stream *stream) {
  if (stream->run_length == max_run) { finish_run(stream); }
  if (stream->run_length++ == 0) { stream->run_token = stream->cursor++; }
}

/// Adds the correction bits of a block to those that follow the run.
CJPEGCODER_SHARED_BODY void append_corrections(cjpegcoder_stream *stream, uint64_t bits, unsigned count) {
  while (stream->pending_count + count > CJPEGCODER_TOKEN_BITS) {
    unsigned taken = CJPEGCODER_TOKEN_BITS - stream->pending_count;
    count -= taken;
    stream->pending = stream->pending << taken | (uint32_t)(bits >> count);
    stream->pending_count = CJPEGCODER_TOKEN_BITS;
    flush_corrections(stream);
    bits &= ((uint64_t)1 << count) - 1;
  }
  stream->pending = stream->pending << count | (uint32_t)bits;
  stream->pending_count += count;
}

bool cjpegcoder_stream_finish(cjpegcoder_stream *stream) {
  if (!make_room(stream, max_tokens_per_block)) { return false; }
  if (stream->run_length) { finish_run(stream); }
  stream->last_chunk->count = (size_t)(stream->cursor - stream->last_chunk->tokens);
  return true;
}

// MARK: DC (T.81 F.1.2.1 and G.1.2.1)

bool cjpegcoder_tokenise_dc(cjpegcoder_stream *stream, int component, int value) {
  if (!make_room(stream, 1)) { return false; }
  int difference = value - stream->predicted_dc[component];
  stream->predicted_dc[component] = value;
  uint32_t magnitude = (uint32_t)(difference < 0 ? -difference : difference);
  unsigned category = magnitude ? bits_of(magnitude) : 0;
  // A negative difference is coded as the low bits of the difference minus one, which are the inverted magnitude.
  uint32_t bits = (difference < 0 ? ~magnitude : magnitude) & ((1u << category) - 1);
  unsigned symbol = category + (component ? CJPEGCODER_CHROMA_DC : 0);
  *stream->cursor++ = make_token(symbol, category, bits);
  stream->counts[symbol]++;
  return true;
}

// MARK: AC

/// The mask bits of the zigzag indices from `first` to 63.
CJPEGCODER_SHARED_BODY uint64_t from_index(unsigned first) {
  return ~(uint64_t)0 >> first;
}

/// The mask bits of a scan's band.
CJPEGCODER_SHARED_BODY uint64_t band_of(const cjpegcoder_scan *scan) {
  return from_index(scan->first) & ~(uint64_t)0 << (63 - scan->last);
}

/// Tokenises blocks for the first AC scan of a band (T.81 G.1.2.2).
CJPEGCODER_SHARED_BODY bool tokenise_first(cjpegcoder_stream *stream, const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                           const cjpegcoder_masks *masks, size_t blocks) {
  const uint64_t band = band_of(&stream->scan);
  const unsigned low_bits = stream->scan.low_bits;
  const int start = 63 - stream->scan.first, stop = 63 - stream->scan.last;
  uint32_t *const counts = stream->counts;
  for (size_t block = 0; block < blocks; block++) {
    if (!make_room(stream, max_tokens_per_block)) { return false; }
    uint64_t remaining = (low_bits ? masks[block].above_one : masks[block].nonzero) & band;
    if (!remaining) {
      extend_run(stream);
      continue;
    }
    if (stream->run_length) { finish_run(stream); }
    const int16_t *values = coefficients[block];
    cjpegcoder_token *cursor = stream->cursor;
    int expected = start;
    do {
      int position = 63 - __builtin_clzll(remaining);
      remaining ^= (uint64_t)1 << position;
      unsigned zeros = (unsigned)(expected - position);
      expected = position - 1;
      while (zeros > 15) {
        *cursor++ = sixteen_zeros;
        counts[sixteen_zeros]++;
        zeros -= 16;
      }
      int32_t value = values[position], sign = value >> 31;
      uint32_t magnitude = (uint32_t)((value ^ sign) - sign) >> low_bits;
      unsigned category = bits_of(magnitude), symbol = zeros << 4 | category;
      *cursor++ = make_token(symbol, category, (magnitude ^ (uint32_t)sign) & ((1u << category) - 1));
      counts[symbol]++;
    } while (remaining);
    stream->cursor = cursor;
    if (expected >= stop) { extend_run(stream); }
  }
  return true;
}

/// Extracts the bits of `value` that `mask` selects, in their order.
CJPEGCODER_SHARED_BODY uint64_t extract(uint64_t value, uint64_t mask, bool fast) {
#if defined(__x86_64__)
  // Inline assembly, because the intrinsic is not allowed in a body that the portable variant shares.
  if (fast) {
    uint64_t bits;
    __asm__("pext %2, %1, %0" : "=r"(bits) : "r"(value), "r"(mask));
    return bits;
  }
#else
  (void)fast;
#endif
  uint64_t bits = 0;
  while (mask) {
    int position = 63 - __builtin_clzll(mask);
    mask ^= (uint64_t)1 << position;
    bits = bits << 1 | ((value >> position) & 1);
  }
  return bits;
}

/// Adds a symbol and up to 64 bits that follow it.
CJPEGCODER_SHARED_BODY void add_refinement(cjpegcoder_stream *stream, unsigned symbol, uint64_t bits,
                                           unsigned count) {
  stream->counts[symbol]++;
  if (count <= CJPEGCODER_TOKEN_BITS) {
    *stream->cursor++ = make_token(symbol, count, (uint32_t)bits);
  } else {
    *stream->cursor++ = make_token(symbol, 0, 0);
    append_corrections(stream, bits, count);
    if (stream->pending_count) { flush_corrections(stream); }
  }
}

/// Tokenises blocks for a scan that adds the lowest bit of AC (T.81 G.1.2.3).
///
/// A coefficient above one was already nonzero and gets a correction bit: it does not count as a zero, and its bit
/// follows the code of the next symbol. A coefficient of plus or minus one is new and gets a symbol.
CJPEGCODER_SHARED_BODY bool tokenise_refinement(cjpegcoder_stream *stream, const cjpegcoder_masks *masks,
                                                size_t blocks, bool fast) {
  const uint64_t band = band_of(&stream->scan);
  for (size_t block = 0; block < blocks; block++) {
    if (!make_room(stream, max_tokens_per_block)) { return false; }
    const cjpegcoder_masks facts = masks[block];
    const uint64_t old = facts.above_one & band;
    uint64_t new = facts.nonzero & ~facts.above_one & band;
    if (new && stream->run_length) { finish_run(stream); }
    unsigned index = stream->scan.first;
    while (new) {
      unsigned next = (unsigned)__builtin_clzll(new);
      uint64_t bit = (uint64_t)1 << (63 - next);
      new ^= bit;
      uint64_t passed = old & from_index(index) & ~from_index(next);
      unsigned corrections = (unsigned)__builtin_popcountll(passed), zeros = next - index - corrections;
      while (zeros > 15) {
        // The code of sixteen zeros ends at the last of them: only the corrections up to there follow it.
        uint64_t gaps = ~old & from_index(index);
        for (int skipped = 0; skipped < 15; skipped++) { gaps ^= (uint64_t)1 << (63 - __builtin_clzll(gaps)); }
        unsigned sixteenth = (unsigned)__builtin_clzll(gaps);
        passed = old & from_index(index) & ~from_index(sixteenth);
        add_refinement(stream, sixteen_zeros, extract(facts.odd, passed, fast),
                       (unsigned)__builtin_popcountll(passed));
        index = sixteenth + 1;
        passed = old & from_index(index) & ~from_index(next);
        corrections = (unsigned)__builtin_popcountll(passed);
        zeros -= 16;
      }
      uint64_t positive = (facts.negative & bit) == 0;
      add_refinement(stream, zeros << 4 | 1, positive << corrections | extract(facts.odd, passed, fast),
                     corrections + 1);
      index = next + 1;
    }
    if (index <= stream->scan.last) {
      uint64_t passed = old & from_index(index);
      extend_run(stream);
      append_corrections(stream, extract(facts.odd, passed, fast), (unsigned)__builtin_popcountll(passed));
    }
  }
  return true;
}

bool cjpegcoder_tokenise_first_portable(cjpegcoder_stream *stream, const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                        const cjpegcoder_masks *masks, size_t blocks) {
  return tokenise_first(stream, coefficients, masks, blocks);
}

bool cjpegcoder_tokenise_refinement_portable(cjpegcoder_stream *stream,
                                             const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                             const cjpegcoder_masks *masks, size_t blocks) {
  (void)coefficients;
  return tokenise_refinement(stream, masks, blocks, false);
}

#if defined(__x86_64__)

CJPEGCODER_FAST_TARGET
bool cjpegcoder_tokenise_first_fast(cjpegcoder_stream *stream, const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                    const cjpegcoder_masks *masks, size_t blocks) {
  return tokenise_first(stream, coefficients, masks, blocks);
}

CJPEGCODER_FAST_TARGET
bool cjpegcoder_tokenise_refinement_fast(cjpegcoder_stream *stream, const int16_t (*coefficients)[CJPEGCODER_BLOCK],
                                         const cjpegcoder_masks *masks, size_t blocks) {
  (void)coefficients;
  return tokenise_refinement(stream, masks, blocks, true);
}

#endif
