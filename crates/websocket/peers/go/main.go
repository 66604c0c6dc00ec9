// Go's coder/websocket as a peer. `serve BITS` echoes and prints its port. `client URL BITS COUNT` sends half of the
// messages one by one and the others at once, checks the echoes, and prints what was agreed on. The windows of this
// library always have 32 KiB.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

func echo(w http.ResponseWriter, r *http.Request) {
	options := websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1}
	socket, err := websocket.Accept(w, r, &options)
	if err != nil {
		return
	}
	defer socket.CloseNow()
	socket.SetReadLimit(-1)
	for {
		kind, message, err := socket.Read(r.Context())
		if err != nil || socket.Write(r.Context(), kind, message) != nil {
			return
		}
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, http.HandlerFunc(echo)))
}

func client(url string, count int) {
	ctx := context.Background()
	options := websocket.DialOptions{CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1}
	socket, response, err := websocket.Dial(ctx, url, &options)
	if err != nil {
		log.Fatal(err)
	}
	socket.SetReadLimit(-1)
	noise := make([]byte, 200_000)
	rand.Read(noise)
	message := func(i int) (websocket.MessageType, []byte) {
		if i%500 == 250 {
			return websocket.MessageBinary, noise
		}
		text := fmt.Sprintf("%d: ", i) + strings.Repeat(fmt.Sprintf("message %d of many, ", i%13), i%90)
		return websocket.MessageText, []byte(text)
	}
	send := func(i int) {
		kind, sent := message(i)
		if err := socket.Write(ctx, kind, sent); err != nil {
			log.Fatal(err)
		}
	}
	for i := 0; i < count; i++ {
		if i < count/2 {
			send(i)
		} else if i == count/2 {
			go func() {
				for i := count / 2; i < count; i++ {
					send(i)
				}
			}()
		}
		_, sent := message(i)
		_, got, err := socket.Read(ctx)
		if err != nil || !bytes.Equal(got, sent) {
			log.Fatalf("message %d differs: %v", i, err)
		}
	}
	fmt.Println(response.Header.Get("Sec-WebSocket-Extensions"))
	socket.Close(websocket.StatusNormalClosure, "")
}

func main() {
	if os.Args[1] == "serve" {
		serve()
		return
	}
	count, err := strconv.Atoi(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	client(os.Args[2], count)
}
