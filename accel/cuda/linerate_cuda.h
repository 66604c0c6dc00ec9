/* Delta-Rice on NVIDIA GPUs: chunks of HDF5 filter 32025 (version 1) and version 2 streams, decoded and encoded in
 * device memory on a stream of the caller's.
 *
 * The library is built by `cargo build --release -p linerate-cuda` (liblinerate_cuda.so, liblinerate_cuda.a). It needs
 * no CUDA to build or link: the driver is loaded at run time, and a missing one is LINERATE_CUDA_NO_DRIVER.
 *
 * Every function returns 0 or an error code below; linerate_cuda_last_error() has its text. None aborts the program.
 * A codec may be used by several threads, a workspace by one at a time.
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
  LINERATE_CUDA_BAD_ARGUMENT = 5,  /* null, not aligned, or not allowed */
  LINERATE_CUDA_PANIC = 6,         /* a defect of the library: please report it */
  LINERATE_CUDA_NO_KERNEL = 7      /* the library was built without the kernel for this call */
};

/* Outcomes of chunks: 0, or the kind of an error. */
enum {
  LINERATE_CUDA_CHUNK_OK = 0,
  LINERATE_CUDA_TRUNCATED = 1,
  LINERATE_CUDA_CORRUPT = 2,
  LINERATE_CUDA_UNSUPPORTED = 3,
  LINERATE_CUDA_OUTPUT_TOO_SMALL = 4,
  LINERATE_CUDA_CHUNK_BAD_ARGUMENT = 5,
  LINERATE_CUDA_LIMIT = 6
};

/* Types of the samples of version 2 streams. */
enum {
  LINERATE_CUDA_I16 = 0,
  LINERATE_CUDA_U16 = 1,
  LINERATE_CUDA_I32 = 2,
  LINERATE_CUDA_U32 = 3
};

/* Kernels of a device. */
typedef struct linerate_cuda_codec linerate_cuda_codec;

/* Descriptors, scratch and results of one call at a time. It grows to the largest call and is then reused. */
typedef struct linerate_cuda_workspace linerate_cuda_workspace;

/* Parameters of version 1, as the cd_values of filter 32025. */
typedef struct linerate_cuda_params {
  uint32_t m;         /* the Rice parameter: a power of two, 2 to 32768 (decoding: from 1) */
  uint32_t segment;   /* samples per independently coded waveform, 0 for the whole chunk */
  uint32_t tap_count; /* coefficients of the filter, at most 32; 0 for [1, -1] */
  int32_t taps[32];
} linerate_cuda_params;

/* A chunk and its samples, both in device memory. */
typedef struct linerate_cuda_job {
  uint64_t chunk;        /* device address of the chunk, a multiple of 4 */
  uint64_t chunk_bytes;  /* decoding: its size; encoding: bytes that fit there */
  uint64_t samples;      /* device address of the samples, a multiple of their size */
  uint64_t sample_count; /* decoding: samples that fit there; encoding: samples */
} linerate_cuda_job;

/* What became of a chunk. */
typedef struct linerate_cuda_outcome {
  int32_t kind;        /* LINERATE_CUDA_CHUNK_OK, or the kind of its error */
  uint64_t offset;     /* of an error, in bytes of the chunk */
  uint64_t size;       /* decoded: samples; encoded: bytes */
  const char *message; /* of an error, else null; constant */
} linerate_cuda_outcome;

/* The text of the last error of a function on this thread; empty if there was none. Valid until the next call. */
const char *linerate_cuda_last_error(void);

/* A codec of device number `device`, in its primary context (that of CUDA's runtime). */
int linerate_cuda_codec_new(int device, linerate_cuda_codec **out);
/* Frees a codec, after all of its workspaces. Null is allowed. */
void linerate_cuda_codec_free(linerate_cuda_codec *codec);

int linerate_cuda_workspace_new(linerate_cuda_codec *codec, linerate_cuda_workspace **out);
/* Waits for its last call, and frees a workspace. Null is allowed. */
void linerate_cuda_workspace_free(linerate_cuda_workspace *workspace);

/* The calls below queue the work of `count` jobs on `stream` (a CUstream or cudaStream_t; null is the default stream)
 * and return. The memory of the jobs is left alone until the stream has done the work. */

int linerate_cuda_decode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* The bytes are those of the filter. */
int linerate_cuda_encode(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace,
                         const linerate_cuda_params *params, const linerate_cuda_job *jobs, size_t count,
                         void *stream);

/* min_segment: the streams have at least so many samples per segment (encoders of this project: the row, or 4096).
 * Streams of channels are LINERATE_CUDA_UNSUPPORTED. */
int linerate_cuda_decode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t min_segment, const linerate_cuda_job *jobs, size_t count, void *stream);

/* segment: samples per segment, 1 to 65536, or 0 to choose by the row; row: samples per row, or 0. */
int linerate_cuda_encode_streams(linerate_cuda_codec *codec, linerate_cuda_workspace *workspace, int element,
                                 uint32_t segment, uint32_t row, const linerate_cuda_job *jobs, size_t count,
                                 void *stream);

/* Waits for the last call on a workspace and copies the outcomes of its first `count` jobs. */
int linerate_cuda_outcomes(linerate_cuda_workspace *workspace, linerate_cuda_outcome *out, size_t count);

/* The device address of the results of the last call, for work that follows on its stream: 16 bytes per job, a status
 * of 64 bits (all ones if the job went well) and the size as in linerate_cuda_outcome. */
int linerate_cuda_device_results(linerate_cuda_workspace *workspace, uint64_t *out);

/* Maximum sizes in bytes of what encoding makes of `sample_count` samples. */
int linerate_cuda_bound(const linerate_cuda_params *params, uint64_t sample_count, uint64_t *out);
int linerate_cuda_stream_bound(int element, uint32_t segment, uint32_t row, uint64_t sample_count, uint64_t *out);

#ifdef __cplusplus
}
#endif

#endif
