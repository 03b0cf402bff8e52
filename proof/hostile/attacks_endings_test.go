package hostile_test

import (
	"strings"
	"time"

	"surehook.example/surehook/internal/hook"
)

func wait(d time.Duration) { time.Sleep(d) }

// endings are receivers that answer or end at another time than after the request,
// and receivers that send the client elsewhere.
func endings() []attack {
	early := func(status string) func(*peer) {
		return func(p *peer) { p.readHead(); p.say("HTTP/1.1 " + status + "\r\nContent-Length: 0\r\n\r\n"); p.wait() }
	}
	location := func(to string) func(*peer) {
		return saying("HTTP/1.1 307 " + canary + "\r\nLocation: " + to + "\r\nContent-Length: 0\r\n\r\n")
	}
	return []attack{
		{name: "closes at once", script: func(*peer) {}, classes: one(hook.ClassReset)},
		{name: "resets at once", script: (*peer).reset, classes: []hook.Class{hook.ClassReset, hook.ClassConnect}}, // connect: the reset came before the client set its socket's options
		{name: "closes after the request", script: saying(""), classes: one(hook.ClassReset)},
		{name: "resets after the request", script: func(p *peer) { p.read(); p.reset() }, classes: one(hook.ClassReset)},
		{name: "resets in a large request", script: func(p *peer) { p.readHead(); p.reset() }, large: true, classes: one(hook.ClassReset)},
		{name: "resets in its headers", script: func(p *peer) { p.read(); p.say("HTTP/1.1 200 OK\r\nX-A: " + canary); p.reset() }, classes: one(hook.ClassReset)},
		{name: "closes in its headers", script: saying("HTTP/1.1 200 OK\r\nX-A: " + canary), classes: one(hook.ClassReset)},
		{name: "closes in its body", script: saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + canary), classes: one(hook.ClassDelivered), status: 200},
		{name: "closes in a chunk", script: saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" + canary), classes: one(hook.ClassDelivered), status: 200},
		{name: "half closes after the request", script: func(p *peer) { p.read(); p.halfClose() }, classes: one(hook.ClassReset)},
		{name: "half closes before a large request", script: (*peer).halfClose, large: true, classes: one(hook.ClassReset)},
		{name: "half closes in its body", script: func(p *peer) {
			p.read()
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + canary)
			p.halfClose()
		}, classes: one(hook.ClassDelivered), status: 200},
		{name: "refuses early, and reads nothing more", script: early("413 " + canary), large: true, classes: one(hook.ClassRefused), status: 413},
		{name: "accepts early, and reads nothing more", script: early("200 " + canary), large: true, classes: one(hook.ClassDelivered), status: 200},
		{name: "answers before the request", script: func(p *peer) {
			p.say("HTTP/1.1 200 " + canary + "\r\nContent-Length: 0\r\n\r\n")
			p.wait()
		}, classes: []hook.Class{hook.ClassReset, hook.ClassDelivered}}, // the class depends on which side is first
		{name: "answers twice", script: stalling(strings.Repeat("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"+canary, 2)), classes: one(hook.ClassDelivered), status: 200},
		{name: "says more on the idle connection", script: func(p *peer) {
			p.read()
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			wait(pause)
			p.say(canary)
			p.wait()
		}, classes: one(hook.ClassDelivered), status: 200},
		{name: "redirects nowhere", script: location(""), classes: one(hook.ClassRedirect), status: 307},
		{name: "redirects to no URL", script: location("https://%zz/" + canary), classes: one(hook.ClassRedirect), status: 307},
		{name: "redirects to another scheme", script: location(canary + "://example.com/"), classes: one(hook.ClassBlocked), status: 307},
		{name: "redirects to a user", script: location("https://" + canary + "@example.com/"), classes: one(hook.ClassBlocked), status: 307},
		{name: "redirects to a private address", script: location("https://10.0.0.1/" + canary), classes: one(hook.ClassBlocked), status: 307},
		{name: "redirects to a long URL", script: location("/" + long(hook.MaxURL)), classes: one(hook.ClassBlocked), status: 307},
		{name: "a Retry-After that is a word", script: saying("HTTP/1.1 503 OK\r\nRetry-After: " + canary + "\r\nContent-Length: 0\r\n\r\n"), classes: one(hook.ClassUnavailable), status: 503},
		{name: "cookies", script: saying("HTTP/1.1 200 OK\r\nSet-Cookie: a=\"" + canary + "\x01\"\r\nContent-Length: 0\r\n\r\n"), classes: one(hook.ClassReset)},
	}
}
