// Command example is the receiver of the README of package client.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"surehook.example/surehook/verify"
)

func main() {
	verifier, err := verify.New(os.Getenv("SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	receiver := verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, _ := io.ReadAll(r.Body) // in memory already
		fmt.Println(r.Header.Get("Webhook-Id"), string(payload))
		w.WriteHeader(http.StatusNoContent)
	}))
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", receiver))
}
