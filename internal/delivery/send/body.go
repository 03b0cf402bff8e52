package send

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
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
	compression := compressionOf(resp.Header)
	raw := most
	if compression != "" {
		raw = maxDrain
	}
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, raw))
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxDrain-raw))
	kept = decompress(kept, compression, most)
	return inUTF8(kept[:min(int64(len(kept)), most)], resp.Header.Get("Content-Type"), most)
}

// compressionOf returns the Content-Encoding without identity, which changes nothing.
func compressionOf(h http.Header) string {
	all := strings.FieldsFunc(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
	return strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "identity" }), ",")
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
		if text, err = zlib.NewReader(bytes.NewReader(body)); err != nil { // some servers leave out the frame of zlib
			text, err = flate.NewReader(bytes.NewReader(body)), nil
		}
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

// charsetParameter matches the charset of a Content-Type, even if another parameter is not valid.
var charsetParameter = regexp.MustCompile(`(?i);\s*charset\s*=\s*"?([^\s;"]+)`)

// inUTF8 returns the body in UTF-8, cut to the most bytes: from the charset of its byte order mark,
// or else of its type. A body of UTF-8, or of an unknown charset, stays as it is.
func inUTF8(body []byte, contentType string, most int64) []byte {
	var decoder transform.Transformer = transform.Nop
	if named := charsetParameter.FindStringSubmatch(contentType); named != nil {
		if charset, err := htmlindex.Get(named[1]); err == nil && charset != unicode.UTF8 {
			decoder = charset.NewDecoder()
		}
	}
	text, _, err := transform.Bytes(unicode.BOMOverride(decoder), body)
	if err != nil {
		return body
	}
	return text[:min(int64(len(text)), most)]
}
