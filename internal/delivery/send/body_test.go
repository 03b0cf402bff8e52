package send_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
	"testing"

	"surehook.example/surehook/internal/hook"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()

	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func deflated(t *testing.T, text string) string {
	t.Helper()

	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The record shows text, whatever the compression and the charset of the response.
func TestSender_Send_keepsAReadableBody(t *testing.T) {
	t.Parallel()

	const text = `{"error":"no such order"}`
	whole := gzipped(t, text)
	cutEnd := whole[:len(whole)-8] // without the checksum and the length
	zeros := gzipped(t, strings.Repeat("0", 50<<20))
	for _, tt := range []struct {
		name, encoding, contentType, body, want string
	}{
		{name: "gzip", encoding: "gzip", contentType: "application/json", body: gzipped(t, text), want: text},
		{name: "gzip by another name", encoding: " X-GZIP ", contentType: "", body: gzipped(t, text), want: text},
		{name: "deflate", encoding: "deflate", contentType: "", body: deflated(t, text), want: text},
		{name: "deflate without the frame of zlib", encoding: "deflate", contentType: "", body: deflated(t, text)[2:], want: text},
		{name: "gzip and identity", encoding: "gzip, identity", contentType: "", body: gzipped(t, text), want: text},
		{name: "no compression, although the header says so", encoding: "gzip", contentType: "", body: text, want: text},
		{name: "gzip without content", encoding: "gzip", contentType: "", body: gzipped(t, ""), want: ""},
		{name: "gzip without its end", encoding: "gzip", contentType: "", body: cutEnd, want: text},
		{name: "a damaged head", encoding: "gzip", contentType: "", body: "\x1f\x8b", want: "\x1f\x8b"},
		{name: "an unknown compression", encoding: "br", contentType: "", body: "\x0b\x02\x80", want: "\x0b\x02\x80"},
		{name: "two compressions", encoding: "gzip, gzip", contentType: "", body: gzipped(t, gzipped(t, text)), want: gzipped(t, gzipped(t, text))},
		{name: "a bomb", encoding: "gzip", contentType: "", body: zeros, want: strings.Repeat("0", hook.MaxResponseBody)},
		{name: "Latin-1", encoding: "", contentType: "text/plain; charset=ISO-8859-1", body: "Bestellung \xfcber 5 \xa3", want: "Bestellung über 5 £"},
		{name: "Shift JIS", encoding: "", contentType: `text/html; charset="Shift_JIS"`, body: "\x83G\x83\x89\x81[", want: "エラー"},
		{name: "UTF-16", encoding: "", contentType: "text/plain; charset=utf-16le", body: "n\x00o\x00", want: "no"},
		{name: "UTF-16 with a byte order mark", encoding: "", contentType: "text/plain; charset=utf-16", body: "\xfe\xff\x00n\x00o", want: "no"},
		{name: "UTF-16 that only the byte order mark names", encoding: "", contentType: "", body: "\xff\xfen\x00o\x00", want: "no"},
		{name: "UTF-8 with a byte order mark", encoding: "", contentType: "application/json", body: "\xef\xbb\xbf{}", want: "{}"},
		{name: "a charset before a parameter that is not valid", encoding: "", contentType: "text/plain; charset=latin1; foo", body: "\xe9", want: "é"},
		{name: "Latin-1 in gzip", encoding: "gzip", contentType: "text/plain; charset=latin1", body: gzipped(t, "\xe9"), want: "é"},
		{name: "a charset that makes the text longer", encoding: "", contentType: "text/plain; charset=latin1", body: strings.Repeat("\xe9", hook.MaxResponseBody), want: strings.Repeat("é", hook.MaxResponseBody/2)},
		{name: "UTF-8", encoding: "", contentType: "text/plain; charset=UTF-8", body: "\xff\xc3\xa9", want: "\xff\xc3\xa9"},
		{name: "an unknown charset", encoding: "", contentType: "text/plain; charset=x-none", body: "\xe9", want: "\xe9"},
		{name: "no valid type", encoding: "", contentType: "text/plain; charset", body: "\xe9", want: "\xe9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			server, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", tt.encoding)
				w.Header().Set("Content-Type", tt.contentType)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, tt.body)
			}, nil)
			outcome := sender(t).Send(t.Context(), request(t, server.URL))
			if got := string(outcome.Body); got != tt.want {
				t.Errorf("body = %.80q (%d bytes); want %.80q (%d bytes)", got, len(got), tt.want, len(tt.want))
			}
			if got := outcome.Headers["Content-Encoding"]; got != strings.TrimSpace(tt.encoding) {
				t.Errorf("Content-Encoding = %q; want %q", got, tt.encoding)
			}
		})
	}
}

// A compressed body is read up to the same length as any other, and not for as long as it expands.
func TestSender_Send_readsAtMost64KiBOfACompressedBody(t *testing.T) {
	t.Parallel()

	endless := &countingBody{}
	s := sender(t)
	s.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: endless, Request: r}, nil
	})}
	outcome := s.Send(t.Context(), request(t, "https://example.com"))
	if endless.read != 64<<10 || !endless.closed || len(outcome.Body) != hook.MaxResponseBody {
		t.Errorf("Send() read %d bytes, closed %t, kept %d; want 65536, true, %d", endless.read, endless.closed, len(outcome.Body), hook.MaxResponseBody)
	}
}
