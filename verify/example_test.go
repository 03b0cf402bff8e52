package verify_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"surehook.example/surehook/verify"
)

func Example() {
	v, err := verify.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		log.Panic(err)
	}
	hooks := v.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent) // the request is verified; its header Webhook-Id tells repetitions apart
	}))

	w := httptest.NewRecorder()
	hooks.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/hooks", strings.NewReader(`{}`)))
	fmt.Println(w.Code, w.Body)
	// Output: 401 a header of the signature is missing or malformed
}
