//! Runs unmodified nginx and Apache of the distribution with this library loaded before zlib. Pages
//! of 1 KB to 1 MB must arrive whole. The log of nginx must be empty, and that of Apache must have
//! no errors.
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use linerate_testkit::c_program::Library;
use linerate_testkit::data;
use linerate_testkit::sys::zlib_window::ZlibWindow;
use linerate_testkit::tools::require;
use tempfile::TempDir;

const PAGES: [usize; 6] = [1_000, 3_000, 20_000, 71_000, 300_000, 1_000_000];

/// A server with its own port, stopped on drop.
struct Server {
    child: Child,
    folder: TempDir,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server with the configuration that `configure` writes for a folder and a port.
    /// Tries up to ten ports, since a port can be taken.
    fn start(
        command: impl Fn(&Path) -> Command,
        configure: impl Fn(&Path, u16) -> String,
        preload: Option<&Path>,
    ) -> Server {
        for _ in 0..10 {
            let folder = tempfile::tempdir().expect("a folder");
            // A server started by root reads files as another user.
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
            let html = folder.path().join("html");
            fs::create_dir(&html).expect("a folder");
            for len in PAGES {
                fs::write(html.join(format!("{len}.html")), page(len)).expect("a page");
            }
            let port = TcpListener::bind("127.0.0.1:0")
                .and_then(|socket| socket.local_addr())
                .expect("a port")
                .port();
            let file = folder.path().join("server.conf");
            fs::write(&file, configure(folder.path(), port)).expect("a configuration");
            let mut command = command(folder.path());
            if let Some(library) = preload {
                command.env("LD_PRELOAD", library);
            }
            let log = fs::File::create(folder.path().join("output")).expect("a file");
            let child =
                command.stdout(log.try_clone().expect("a file")).stderr(log).stdin(Stdio::null()).spawn();
            let mut server = Server { child: child.expect("the server starts"), folder, port };
            if server.answers() {
                return server;
            }
        }
        panic!("the server does not start");
    }

    /// Waits until the server answers. Returns false if it ended instead, and panics after 30
    /// seconds.
    fn answers(&mut self) -> bool {
        for _ in 0..3_000 {
            if self.child.try_wait().expect("its status").is_some() {
                eprintln!("{}", self.log());
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("no answer after 30 seconds: {}", self.log());
    }

    /// Returns the log of the server.
    fn log(&self) -> String {
        let read = |name: &str| fs::read(self.folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&[read("error.log"), read("output")].concat()).into_owned()
    }

    /// Returns the compressed body of a page.
    fn get(&self, len: usize) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let request = format!("GET /{len}.html HTTP/1.0\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("a response");
        let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a header") + 4;
        let header = String::from_utf8_lossy(&response[..end]).to_ascii_lowercase();
        assert!(header.contains("content-encoding: gzip"), "{header}");
        response.split_off(end)
    }

    /// Fetches every page twice and decodes it. Returns the compressed size of each page.
    fn check_pages(&self) -> Vec<usize> {
        let sizes = PAGES.into_iter().map(|len| {
            let bodies = [self.get(len), self.get(len)];
            for body in &bodies {
                assert!(ZlibWindow::new(31, &[]).take(body) == Ok(page(len)), "page of {len} bytes");
            }
            bodies[0].len()
        });
        sizes.collect()
    }
}

fn page(len: usize) -> Vec<u8> {
    data::mixed(len)
}

/// Finds a program that `scripts/setup.sh servers` has unpacked into `target/servers`, or else one
/// of the system.
fn find(library: &Library, name: &str) -> Option<PathBuf> {
    let unpacked = library.folder().ancestors().map(|folder| folder.join("servers/usr/sbin"));
    let mut folders = unpacked.chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")]);
    let found = folders.find(|folder| folder.join(name).is_file()).map(|folder| folder.join(name));
    require(found.is_some(), &format!("no {name} (scripts/setup.sh servers)"));
    found
}

fn nginx(program: &Path, level: u8, preload: Option<&Path>) -> Server {
    let command = |folder: &Path| {
        let mut command = Command::new(program);
        command.arg("-p").arg(folder).arg("-e").arg(folder.join("error.log"));
        command.arg("-c").arg(folder.join("server.conf"));
        command
    };
    let configure = |folder: &Path, port: u16| {
        let folder = folder.display();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {folder}/{kind};"))
            .concat();
        format!(
            "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log warn;
            events {{ worker_connections 64; }}
            http {{
                {temporary} access_log off; default_type text/html;
                gzip on; gzip_comp_level {level}; gzip_min_length 1; gzip_http_version 1.0;
                server {{ listen 127.0.0.1:{port}; root {folder}/html; }}
            }}"
        )
    };
    Server::start(command, configure, preload)
}

fn apache(program: &Path, level: u8, preload: Option<&Path>) -> Server {
    let root = program.parent().and_then(Path::parent).expect("usr");
    let modules = root.join("lib/apache2/modules");
    let command = |folder: &Path| {
        let mut command = Command::new(program);
        // Folders such as usr/lib/x86_64-linux-gnu. The loader does not search those of an unpacked
        // package.
        let libraries =
            fs::read_dir(root.join("lib")).expect("a folder").map(|entry| entry.expect("an entry").path());
        let libraries: Vec<_> = libraries.filter(|path| path.is_dir()).collect();
        command.env("LD_LIBRARY_PATH", std::env::join_paths(libraries).expect("paths"));
        command.arg("-X").arg("-f").arg(folder.join("server.conf"));
        command
    };
    let configure = |folder: &Path, port: u16| {
        let (folder, modules) = (folder.display(), modules.display());
        let modules = ["mpm_event", "authz_core", "filter", "deflate"]
            .map(|name| format!("LoadModule {name}_module {modules}/mod_{name}.so\n"))
            .concat();
        format!(
            "ServerRoot {folder}\nServerName localhost\nListen 127.0.0.1:{port}\nPidFile {folder}/pid\n\
            DefaultRuntimeDir {folder}\nErrorLog {folder}/error.log\nLogLevel warn\n{modules}\
            User nobody\nGroup nogroup\n\
            DocumentRoot {folder}/html\nDeflateCompressionLevel {level}\nSetOutputFilter DEFLATE\n"
        )
    };
    Server::start(command, configure, preload)
}

#[test]
fn nginx_serves_every_page_whole_and_finds_the_memory_that_it_computed_enough() {
    let Some(library) = Library::built("linerate_z") else { return };
    let Some(program) = find(&library, "nginx") else { return };
    let zlibs = nginx(&program, 1, None).check_pages();
    for level in [1, 4, 6, 9] {
        let server = nginx(&program, level, Some(&library.shared()));
        let sizes = server.check_pages();
        assert_eq!(server.log(), "", "level {level}");
        if level == 1 {
            assert_ne!(sizes, zlibs, "zlib compressed");
        }
    }
}

#[test]
fn apache_serves_every_page_whole() {
    let Some(library) = Library::built("linerate_z") else { return };
    let Some(program) = find(&library, "apache2") else { return };
    let zlibs = apache(&program, 1, None).check_pages();
    for level in [1, 6, 9] {
        let server = apache(&program, level, Some(&library.shared()));
        let sizes = server.check_pages();
        let log = server.log();
        let faults: Vec<_> = log
            .lines()
            .filter(|line| [":error]", ":crit]", ":alert]", ":emerg]"].iter().any(|kind| line.contains(kind)))
            .collect();
        assert!(faults.is_empty(), "level {level}: {faults:?}");
        if level == 1 {
            assert_ne!(sizes, zlibs, "zlib compressed");
        }
    }
}
