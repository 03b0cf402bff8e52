package hostile_test

import (
	"surehook.example/surehook/internal/hook"
)

// framing returns attacks that break the rules of HTTP/1.1, or bend them.
func framing() []attack {
	const ok, chunked = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	says := func(name, text string, class hook.Class, status int) attack {
		return attack{name: name, script: saying(text), classes: one(class), status: status}
	}
	return []attack{
		// the status line
		says("garbage", canary+"\r\n\r\n", hook.ClassReset, 0),
		says("garbage before the status", canary+"\r\nHTTP/1.1 200 OK\r\n\r\n", hook.ClassReset, 0),
		says("an empty line before the status", "\r\nHTTP/1.1 200 OK\r\n\r\n", hook.ClassReset, 0),
		says("NUL bytes", "\x00\x00\x00\x00\r\n\r\n", hook.ClassReset, 0),
		says("HTTP/0.9", "<html>"+canary+"</html>", hook.ClassReset, 0),
		says("another protocol", "SSH-2.0-"+canary+"\r\n", hook.ClassReset, 0),
		says("HTTP/2 frames", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"+canary, hook.ClassReset, 0),
		says("a TLS record", "\x15\x03\x01\x00\x02\x02\x46"+canary, hook.ClassReset, 0),
		says("an unknown version", "HTTP/x.y 200 "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a status without digits", "HTTP/1.1 2OO "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a status of two digits", "HTTP/1.1 20 "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a status of four digits", "HTTP/1.1 2000 "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a negative status", "HTTP/1.1 -20 "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("status 999", "HTTP/1.1 999 "+canary+"\r\nContent-Length: 0\r\n\r\n", hook.ClassUnavailable, 999),
		says("status 101", "HTTP/1.1 101 "+canary+"\r\nConnection: Upgrade\r\nUpgrade: "+canary+"\r\n\r\n", hook.ClassRefused, 101),
		// headers
		says("a header without a colon", ok+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a header without a name", ok+": "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a header with a space before the colon", ok+"X-A : "+canary+"\r\nContent-Length: 0\r\n\r\n", hook.ClassDelivered, 200),
		says("a header with a NUL byte", ok+"X-A: \x00"+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a folded first header", ok+" X-A: "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("line feeds alone", "HTTP/1.1 200 OK\nX-A: "+canary+"\nContent-Length: 0\n\n", hook.ClassDelivered, 200),
		// lengths
		says("two lengths", ok+"Content-Length: 5\r\nContent-Length: 6\r\n\r\n"+canary, hook.ClassReset, 0),
		says("two lengths in one header", ok+"Content-Length: 5, 6\r\n\r\n"+canary, hook.ClassReset, 0),
		says("a negative length", ok+"Content-Length: -1\r\n\r\n"+canary, hook.ClassReset, 0),
		says("a length with a sign", ok+"Content-Length: +5\r\n\r\n"+canary, hook.ClassReset, 0),
		says("a length that is a word", ok+"Content-Length: "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("a length past 64 bits", ok+"Content-Length: 99999999999999999999\r\n\r\n"+canary, hook.ClassReset, 0),
		says("the largest length", ok+"Content-Length: 9223372036854775807\r\n\r\n"+canary, hook.ClassDelivered, 200),
		says("a length together with chunks", ok+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n"+canary+"\r\n0\r\n\r\n", hook.ClassDelivered, 200),
		says("an unknown transfer encoding", ok+"Transfer-Encoding: "+canary+"\r\n\r\n", hook.ClassReset, 0),
		says("two transfer encodings", ok+"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", hook.ClassReset, 0),
		says("a body after status 204", "HTTP/1.1 204 No Content\r\nContent-Length: 14\r\n\r\n"+canary, hook.ClassDelivered, 204),
		// chunks
		says("a chunk size that is a word", chunked+canary+"\r\n", hook.ClassDelivered, 200),
		says("a negative chunk", chunked+"-1\r\n"+canary+"\r\n", hook.ClassDelivered, 200),
		says("a chunk past 64 bits", chunked+"fffffffffffffffff\r\n"+canary+"\r\n", hook.ClassDelivered, 200),
		says("a chunk without its end", chunked+"1\r\n"+canary+"\r\n", hook.ClassDelivered, 200),
		says("a forbidden trailer", chunked+"0\r\nContent-Length: "+canary+"\r\n\r\n", hook.ClassDelivered, 200),
	}
}
