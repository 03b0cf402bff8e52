package hostile_test

import (
	"bytes"
	"compress/gzip"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// floods are receivers that send without end, or send much in few bytes.
func floods() []attack {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	flood := func(name, head, text string, class hook.Class, status int) attack {
		return attack{name: "floods " + name, script: flooding(head, text), classes: one(class), status: status}
	}
	return []attack{
		flood("no HTTP at all", "", long(8<<10), hook.ClassReset, 0),
		flood("a status line", "HTTP/1.1 200 ", long(8<<10), hook.ClassReset, 0),
		flood("one header", ok+"X-A: ", long(8<<10), hook.ClassReset, 0),
		flood("headers", ok, "X-A: "+long(100)+"\r\n", hook.ClassReset, 0),
		flood("folded header lines", ok+"X-A: a\r\n", " "+long(100)+"\r\n", hook.ClassReset, 0),
		flood("100 Continue", "", "HTTP/1.1 100 Continue\r\n\r\n", hook.ClassReset, 0),
		flood("103 Early Hints", "", "HTTP/1.1 103 Early Hints\r\nLink: "+long(4<<10)+"\r\n\r\n", hook.ClassReset, 0),
		flood("a body without an end", ok+"\r\n", long(8<<10), hook.ClassDelivered, 200),
		flood("a body of 410", "HTTP/1.1 410 Gone\r\n\r\n", long(8<<10), hook.ClassGone, 410),
		flood("chunks", chunked, "e\r\n"+canary+"\r\n", hook.ClassDelivered, 200),
		flood("chunks of one byte", chunked, "1\r\na\r\n", hook.ClassDelivered, 200),
		flood("a chunk's extension", chunked+"1;", long(8<<10), hook.ClassDelivered, 200),
		flood("a chunk's size", chunked, "0", hook.ClassDelivered, 200),
		flood("trailers", chunked+"0\r\n", "X-A: "+long(100)+"\r\n", hook.ClassDelivered, 200),
		flood("answers", "", "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"+canary, hook.ClassDelivered, 200),
		{name: "floods an answer to a large request", script: func(p *peer) {
			p.readHead()
			p.say(ok + "\r\n")
			p.repeat(canary, 0)
		}, large: true, classes: one(hook.ClassDelivered), status: 200},
		{name: "a gzip bomb", script: saying(ok + "Content-Encoding: gzip\r\nContent-Length: " + bomb()), classes: one(hook.ClassDelivered), status: 200},
		{name: "a gzip bomb in chunks", script: saying(ok + "Content-Encoding: gzip\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), classes: one(hook.ClassReset)},
	}
}

// bomb is the length and the body of 16 MiB of zeros in gzip.
func bomb() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(make([]byte, 16<<20))
	_ = w.Close()
	return strconv.Itoa(b.Len()) + "\r\n\r\n" + b.String()
}
