package send

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"mime"
	"net/http"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// maxDrain limits the bytes that are read from a response so that its connection can be used
// again. After a longer response, the connection is closed.
const maxDrain = 64 << 10

// readBody returns the first bytes of the body as readable text: decompressed, and in UTF-8 if the
// response names another charset. It ignores read errors, because the status already decides the
// outcome.
//
// However much a compressed body expands, the cost is bounded: at most maxDrain bytes are read, and
// at most the wanted bytes decompressed.
func readBody(resp *http.Response, most int64) []byte {
	if _, ok := resp.Body.(io.Writer); ok {
		return nil // status 101: the body is the raw connection, which has no deadline
	}
	if resp.Body == http.NoBody {
		return []byte{}
	}
	compression := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	raw := most
	if compression != "" {
		raw = maxDrain
	}
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, raw))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain-raw))
	kept = decompress(kept, compression, most)
	return inUTF8(kept[:min(int64(len(kept)), most)], resp.Header.Get("Content-Type"), most)
}

// decompress returns the first bytes of the body, or the body itself if it is not compressed in a
// known way.
func decompress(body []byte, compression string, most int64) []byte {
	var text io.Reader
	var err error
	switch compression {
	case "gzip", "x-gzip":
		text, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		text, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return body
	}
	if err != nil {
		return body
	}
	start, err := io.ReadAll(io.LimitReader(text, most))
	if err != nil && len(start) == 0 {
		return body
	}
	return start
}

// inUTF8 returns the body in UTF-8, cut to the most bytes. A body of UTF-8, or of an unknown charset,
// stays as it is.
func inUTF8(body []byte, contentType string, most int64) []byte {
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || parameters["charset"] == "" {
		return body
	}
	charset, err := htmlindex.Get(parameters["charset"])
	if err != nil {
		return body
	}
	if name, err := htmlindex.Name(charset); err != nil || name == "utf-8" {
		return body
	}
	text, err := charset.NewDecoder().Bytes(body)
	if err != nil {
		return body
	}
	return text[:min(int64(len(text)), most)]
}
