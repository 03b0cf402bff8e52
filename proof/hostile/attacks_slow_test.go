package hostile_test

import (
	"surehook.example/surehook/internal/hook"
)

// stalls are receivers that stop at some point of the exchange.
func stalls() []attack {
	silent := one(hook.ClassTimeout)
	stall := func(after, text string, class hook.Class, status int) attack {
		return attack{name: "stalls after " + after, script: stalling(text), classes: one(class), status: status, cut: class != hook.ClassTimeout}
	}
	return []attack{
		{name: "stalls before it reads", script: (*peer).wait, classes: silent},
		{name: "stalls before it reads a large request", script: (*peer).wait, large: true, classes: silent},
		{name: "stalls in a large request", script: func(p *peer) { p.readHead(); p.wait() }, large: true, classes: silent},
		stall("the request", "", hook.ClassTimeout, 0),
		stall("one byte", "H", hook.ClassTimeout, 0),
		stall("half a status line", "HTTP/1.1 200 "+canary, hook.ClassTimeout, 0),
		stall("the status line", "HTTP/1.1 200 OK\r\n", hook.ClassTimeout, 0),
		stall("half a header", "HTTP/1.1 200 OK\r\nX-A: "+canary, hook.ClassTimeout, 0),
		stall("the headers, before the empty line", "HTTP/1.1 200 OK\r\nX-A: "+canary+"\r\n", hook.ClassTimeout, 0),
		stall("100 Continue", "HTTP/1.1 100 Continue\r\n\r\n", hook.ClassTimeout, 0),
		stall("103 Early Hints", "HTTP/1.1 103 Early Hints\r\nLink: "+canary+"\r\n\r\n", hook.ClassTimeout, 0),
		stall("the header of a body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", hook.ClassDelivered, 200),
		stall("half a body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"+canary, hook.ClassDelivered, 200),
		stall("half a body of 503", "HTTP/1.1 503 "+canary+"\r\nContent-Length: 100\r\n\r\n"+canary, hook.ClassUnavailable, 503),
		stall("half a body of a redirect", "HTTP/1.1 307 Moved\r\nLocation: /\r\nContent-Length: 100\r\n\r\n"+canary, hook.ClassTimeout, 0),
		stall("a body without an end", "HTTP/1.1 200 OK\r\n\r\n"+canary, hook.ClassDelivered, 200),
		stall("a chunk's size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5", hook.ClassDelivered, 200),
		stall("half a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n"+canary, hook.ClassDelivered, 200),
		stall("the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", hook.ClassDelivered, 200),
		stall("an early answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", hook.ClassDelivered, 200),
	}
}

// trickles are receivers that send or read one byte at a time, without an end
// before the timeout.
func trickles() []attack {
	return []attack{
		{name: "trickles its status line", script: trickling("HTTP/1.1 200 " + long(1000)), classes: one(hook.ClassTimeout)},
		{name: "trickles its headers", script: trickling("HTTP/1.1 200 OK\r\nX-A: " + long(1000)), classes: one(hook.ClassTimeout)},
		{name: "adds header after header", script: dripping("HTTP/1.1 200 OK\r\n", "X-A: "+canary+"\r\n"), classes: one(hook.ClassTimeout)},
		{name: "trickles a body", script: dripping("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", "a"), classes: one(hook.ClassDelivered), status: 200, cut: true},
		{name: "trickles chunks", script: dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"), classes: one(hook.ClassDelivered), status: 200, cut: true},
		{name: "trickles trailers", script: dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n0\r\n", "X-A: "+canary+"\r\n"), classes: one(hook.ClassDelivered), status: 200, cut: true},
		{name: "trickles a chunk's size", script: dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"), classes: one(hook.ClassDelivered), status: 200, cut: true},
		{name: "trickles 410 after its own time", script: trickling("HTTP/1.1 410 " + long(1000) + "\r\n\r\n"), classes: one(hook.ClassTimeout)},
		{name: "reads a large request byte by byte", script: func(p *peer) {
			for b := make([]byte, 1); ; {
				if _, err := p.Read(b); err != nil {
					return
				}
				wait(pause)
			}
		}, large: true, classes: one(hook.ClassTimeout)},
	}
}
