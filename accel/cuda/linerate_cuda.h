/* Delta-Rice on NVIDIA GPUs: decodes and encodes chunks of HDF5 filter 32025 (version 1) and
 * version 2 streams in device memory on the caller's stream.
 *
 * `cargo build --release -p linerate-cuda` builds the library (liblinerate_cuda.so,
 * liblinerate_cuda.a). Building and linking need no CUDA: the driver is loaded at run time, and
 * without one functions return LINERATE_CUDA_NO_DRIVER.
 *
 * Every function returns 0 or one of the error codes below; linerate_cuda_last_error() returns the
 * text. No function aborts the program. Several threads may use a codec; one thread at a time may
 * use a workspace.
 */
#ifndef LINERATE_CUDA_H
#define LINERATE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Error codes of functions. */
enum {
  LINERATE_CUDA_OK = 0,
  LINERATE_CUDA_NO_DRIVER = 1,     /* the driver library cannot be loaded */
  LINERATE_CUDA_NO_DEVICE = 2,     /* there is no such device */
  LINERATE_CUDA_OUT_OF_MEMORY = 3, /* device memory is full */
  LINERATE_CUDA_DRIVER = 4,        /* a call of the driver failed */
  LINERATE_CUDA_BAD_ARGUMENT = 5,  /* null, unaligned or invalid */
  LINERATE_CUDA_PANIC = 6,         /* a bug in the library: please report it */
  LINERATE_CUDA_NO_KERNEL = 7      /* the library has no kernel for this call */
};

/* Outcome of a chunk: 0, or the kind of its error. */
enum {
  LINERATE_CUDA_CHUNK_OK = 0,
  LINERATE_CUDA_TRUNCATED = 1,
  LINERATE_CUDA_CORRUPT = 2,
  LINERATE_CUDA_UNSUPPORTED = 3,
  LINERATE_CUDA_OUTPUT_TOO_SMALL = 4,
  LINERATE_CUDA_CHUNK_BAD_ARGUMENT = 5,
  LINERATE_CUDA_LIMIT = 6
};

/* Sample types of version 2 streams. */
enum {
  LINERATE_CUDA_I16 = 0,
  LINERATE_CUDA_U16 = 1,
  LINERATE_CUDA_I32 = 2,
  LINERATE_CUDA_U32 = 3
};

/* The kernels of a device. */
typedef struct linerate_cuda_codec linerate_cuda_codec;

/* Descriptors, scratch and results of one call at a time. Grows to the largest call and is then
 * reused. */
typedef struct linerate_cuda_workspace linerate_cuda_workspace;

/* Parameters of version 1, equal to the cd_values of filter 32025. */
typedef struct linerate_cuda_params {
  uint32_t m;         /* divisor of the Rice code: a power of two, 2 to 32768 (decoding: 1 to 32768) */
  uint32_t segment;   /* samples per segment, or 0 for one segment per chunk */
  uint32_t tap_count; /* number of filter coefficients, at most 32; 0 selects 1 and -1 */
  int32_t taps[32];
} linerate_cuda_params;

/* A chunk and its samples, both in device memory. */
typedef struct linerate_cuda_job {
  uint64_t chunk;        /* device address of the chunk, a multiple of 4 */
  uint64_t chunk_bytes;  /* decoding: size of the chunk; encoding: capacity in bytes */
  uint64_t samples;      /* device address of the samples, a multiple of their size */
  uint64_t sample_count; /* decoding: capacity in samples; encoding: number of samples */
} linerate_cuda_job;

/* The result of a chunk. */
typedef struct linerate_cuda_outcome {
  int32_t kind;        /* LINERATE_CUDA_CHUNK_OK, or the kind of its error */
  uint64_t offset;     /* offset of the error, in bytes of the chunk */
  uint64_t size;       /* decoding: number of samples; encoding: number of bytes */
  const char *message; /* message of the error, a constant, or null */
} linerate_cuda_outcome;

/* Returns the text of the last error on this thread, or an empty string. Valid until the next
 * call. */
const char *linerate_cuda_last_error(void);

/* Creates a codec for device number `device` in its primary context, which CUDA's runtime uses
 * too. */
int linerate_cuda_codec_new(int device, linerate_cuda_codec **out);
/* Frees a codec. Free all of its workspaces first. Null is allowed. */
void linerate_cuda_codec_free(linerate_cuda_codec *codec);

int linerate_cuda_workspace_new(linerate_cuda_codec *codec, linerate_cuda_workspace **out);
/* Waits for the last call on a workspace and frees it. Null is allowed. */
void linerate_cuda_workspace_free(linerate_cuda_workspace *workspace);

/* The calls below queue the work of `count` jobs on `stream` (a CUstream or cudaStream_t; null
 * is the default stream) and return. Do not touch the memory of the jobs until the stream has
 * done the work. */

int linerate_cuda_decode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* The output equals that of the HDF5 filter. */
int linerate_cuda_encode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* min_segment: the fewest samples per segment of any stream. Encoders of this project use the
 * row, or 4096. Streams with channels are LINERATE_CUDA_UNSUPPORTED. */
int linerate_cuda_decode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t min_segment, const linerate_cuda_job *jobs, size_t count, void *stream);

/* segment: samples per segment, 1 to 65536, or 0 to choose by the row. row: samples per row, or 0
 * if the samples have no rows. */
int linerate_cuda_encode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t segment, uint32_t row, const linerate_cuda_job *jobs, size_t count,
                                 void *stream);

/* Waits for the last call on a workspace and copies the outcomes of its first `count` jobs. */
int linerate_cuda_outcomes(linerate_cuda_workspace *workspace, linerate_cuda_outcome *out, size_t count);

/* Stores the device address of the results of the last call, for later work on its stream. Each
 * job has 16 bytes: a 64-bit status (all ones on success) and the size as in
 * linerate_cuda_outcome. */
int linerate_cuda_device_results(linerate_cuda_workspace *workspace, uint64_t *out);

/* Store the largest size in bytes of `sample_count` encoded samples. */
int linerate_cuda_bound(const linerate_cuda_params *params, uint64_t sample_count, uint64_t *out);
int linerate_cuda_stream_bound(int element, uint32_t segment, uint32_t row, uint64_t sample_count, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
