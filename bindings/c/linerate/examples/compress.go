// Compresses standard input to standard output as gzip: go run compress.go, with CGO_CFLAGS and CGO_LDFLAGS from pkg-config
package main

// #cgo LDFLAGS: -llinerate
// #include <linerate.h>
import "C"

import (
	"io"
	"log"
	"os"
)

func check(err C.linerate_error) {
	if err.kind != C.LINERATE_OK {
		log.Fatal(C.GoString(err.message))
	}
}

func main() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	var scratch C.linerate_scratch
	check(C.linerate_scratch_new(C.LINERATE_ENGINE_DEFLATE, &scratch))
	defer C.linerate_scratch_free(scratch)
	from := append(input, 0) // gives an empty input a first byte
	out := make([]byte, C.linerate_deflate_bound(C.size_t(len(input))))
	var n C.size_t
	check(C.linerate_deflate(scratch, C.LINERATE_GZIP, 6, (*C.uint8_t)(&from[0]), C.size_t(len(input)),
		(*C.uint8_t)(&out[0]), C.size_t(len(out)), &n))
	if _, err := os.Stdout.Write(out[:n]); err != nil {
		log.Fatal(err)
	}
}
