// Decodes each NAME.gz of a folder and compares it with the file "plain".
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	names, _ := filepath.Glob(filepath.Join(os.Args[1], "*.gz"))
	wanted, _ := os.ReadFile(filepath.Join(os.Args[1], "plain"))
	for _, name := range names {
		packed, _ := os.ReadFile(name)
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		var plain []byte
		if err == nil {
			plain, err = io.ReadAll(reader)
		}
		if err != nil || !bytes.Equal(plain, wanted) {
			fmt.Println(filepath.Base(name), err)
			os.Exit(1)
		}
	}
	fmt.Println(len(names))
}
