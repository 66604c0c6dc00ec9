//! Tests files of shared archives with tokio and with the traits of `futures-io`.

use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::pin::Pin;

use linerate_nx::pack::PackOptions;
use linerate_nx::shared::{AsyncFile, Executor, SharedArchive, SharedCache, SharedOptions};
use linerate_nx::{Archive, Kind};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt};
use tokio::runtime::{Builder, Runtime};

use crate::pack_tree::{TreeFile, content, pack};

const CHUNK: usize = 32 << 10;

fn files() -> Vec<TreeFile> {
    [0, 1, 900, CHUNK, 4 * CHUNK + 5].iter().map(|len| (len.to_string(), content(1, 3, *len))).collect()
}

fn share(files: &[TreeFile], executor: Executor) -> SharedArchive<Vec<u8>> {
    let mut options = PackOptions { threads: 1, ..PackOptions::default() };
    (options.chunk, options.solid_limit) = (CHUNK as u64, CHUNK as u64 - 1);
    let archive = Archive::open(pack(files, &options).0).unwrap();
    let options = SharedOptions::new().cache(&SharedCache::new(3 * CHUNK as u64)).executor(executor);
    SharedArchive::with_options(archive, options).unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// Returns one executor of each kind.
fn executors(runtime: &Runtime) -> [Executor; 3] {
    let handle = runtime.handle().clone();
    let blocking = Executor::new(2, move |job| drop(handle.spawn_blocking(job)));
    [Executor::inline(), Executor::threads(2), blocking]
}

#[test]
fn tokio_reads_whole_files_and_from_any_position() {
    let (runtime, files) = (runtime(), files());
    for executor in executors(&runtime) {
        let shared = share(&files, executor);
        runtime.block_on(async {
            for (path, content) in &files {
                let mut file = shared.open_async(path).unwrap();
                let mut out = Vec::new();
                file.read_to_end(&mut out).await.unwrap();
                assert!(out == *content);
                for to in
                    [SeekFrom::Start(3), SeekFrom::End(-1), SeekFrom::Current(1), SeekFrom::Start(40_000)]
                {
                    let Ok(position) = file.seek(to).await else {
                        assert_eq!((to, content.len()), (SeekFrom::End(-1), 0));
                        continue;
                    };
                    out.clear();
                    file.read_to_end(&mut out).await.unwrap();
                    assert!(out == content[(position as usize).min(content.len())..]);
                }
            }
        });
    }
}

#[test]
fn tokio_reads_lines_of_several_files_at_once() {
    let runtime = runtime();
    let text: String = (0..9000).map(|i| format!("line {i}\n")).collect();
    let files =
        [("a".to_owned(), text.clone().into_bytes()), ("b".to_owned(), text.to_uppercase().into_bytes())];
    for executor in executors(&runtime) {
        let shared = share(&files, executor);
        runtime.block_on(async {
            let (mut a, mut b) =
                (shared.open_async("a").unwrap().lines(), shared.open_async("b").unwrap().lines());
            for line in text.lines() {
                assert_eq!(a.next_line().await.unwrap().as_deref(), Some(line));
                assert_eq!(b.next_line().await.unwrap(), Some(line.to_uppercase()));
            }
            assert_eq!(a.next_line().await.unwrap(), None);
        });
    }
}

#[test]
fn batches_are_futures() {
    let (runtime, files) = (runtime(), files());
    for executor in executors(&runtime) {
        let shared = share(&files, executor);
        let loaded = runtime.block_on(async {
            let paths = files.iter().map(|(path, _)| path);
            shared.prefetch(paths.clone()).unwrap().await;
            shared.batch(paths).unwrap().read_many().unwrap().await
        });
        assert!(
            loaded.contents.iter().zip(&files).all(|(found, (_, content))| found.as_ref() == Some(content))
        );
    }
}

#[test]
fn job_that_the_executor_drops_is_an_error_of_all_later_reads() {
    let (runtime, files) = (runtime(), files());
    let shared = share(&files, Executor::new(1, drop));
    runtime.block_on(async {
        let mut file = shared.open_async("900").unwrap();
        for _ in 0..2 {
            let error = file.read_u8().await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other);
        }
        assert!(file.seek(SeekFrom::Start(0)).await.is_err());
    });
}

#[test]
fn damage_is_an_error_and_the_file_is_read_elsewhere_after_a_seek() {
    let (runtime, files) = (runtime(), files());
    let mut bytes = share(&files, Executor::inline()).archive().source().clone();
    let whole = Archive::open(bytes.clone()).unwrap();
    let large = (4 * CHUNK + 5).to_string();
    let second = whole.find(&large).unwrap().blocks().start + 1;
    let at = whole.layout().offset(second) as usize;
    bytes[at..at + 16].fill(0);
    for executor in executors(&runtime) {
        let options = SharedOptions::new().executor(executor);
        let shared = SharedArchive::with_options(Archive::open(bytes.clone()).unwrap(), options).unwrap();
        runtime.block_on(async {
            let mut file = shared.open_async(&large).unwrap();
            let mut out = Vec::new();
            let error = file.read_to_end(&mut out).await.unwrap_err();
            let engine = error.get_ref().and_then(|inner| inner.downcast_ref::<linerate_nx::Error>());
            assert_eq!((engine.map(|engine| engine.kind), out.len()), (Some(Kind::Corrupt), CHUNK));
            file.seek(SeekFrom::Start(2 * CHUNK as u64)).await.unwrap();
            assert_eq!(file.read_u8().await.unwrap(), files[4].1[2 * CHUNK]);
        });
    }
}

#[test]
fn buffers_of_every_small_size_get_the_content() {
    let (runtime, files) = (runtime(), files());
    let near = [CHUNK - 1, CHUNK, CHUNK + 1, 4 * CHUNK + 5, 4 * CHUNK + 6];
    for executor in executors(&runtime) {
        let shared = share(&files, executor);
        runtime.block_on(async {
            for (size, (path, content)) in
                (0..=64).map(|size| (size, &files[2])).chain(near.map(|size| (size, &files[4])))
            {
                let mut by_tokio = shared.open_async(path).unwrap();
                let mut by_futures = shared.open_async(path).unwrap();
                let (mut one, mut other, mut buffer) = (Vec::new(), Vec::new(), vec![0; size]);
                loop {
                    let n = by_tokio.read(&mut buffer).await.unwrap();
                    one.extend_from_slice(&buffer[..n]);
                    let read = |cx: &mut std::task::Context<'_>| {
                        futures_io::AsyncRead::poll_read(Pin::new(&mut by_futures), cx, &mut buffer)
                    };
                    let m = poll_fn(read).await.unwrap();
                    other.extend_from_slice(&buffer[..m]);
                    if n + m == 0 {
                        break;
                    }
                }
                let expected = if size == 0 { &[][..] } else { &content[..] };
                assert!(one == expected && other == expected, "buffers of {size} bytes");
            }
        });
    }
}

#[test]
fn futures_io_reads_buffers_and_seeks() {
    use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek};
    let (runtime, files) = (runtime(), files());
    let content = &files[4].1;
    for executor in executors(&runtime) {
        let shared = share(&files, executor);
        runtime.block_on(async {
            let mut file: AsyncFile<Vec<u8>> = shared.open_async(&files[4].0).unwrap();
            let mut out = [0; 100];
            let read = poll_fn(|cx| AsyncRead::poll_read(Pin::new(&mut file), cx, &mut out)).await.unwrap();
            assert!(read == 100 && out == content[..100]);
            let to = SeekFrom::Current(CHUNK as i64);
            let position = poll_fn(|cx| AsyncSeek::poll_seek(Pin::new(&mut file), cx, to)).await.unwrap();
            assert_eq!(position, CHUNK as u64 + 100);
            let first = poll_fn(|cx| match AsyncBufRead::poll_fill_buf(Pin::new(&mut file), cx) {
                std::task::Poll::Ready(bytes) => std::task::Poll::Ready(bytes.map(|bytes| bytes[0])),
                std::task::Poll::Pending => std::task::Poll::Pending,
            });
            assert_eq!(first.await.unwrap(), content[CHUNK + 100]);
            AsyncBufRead::consume(Pin::new(&mut file), 7);
            let read = poll_fn(|cx| AsyncRead::poll_read(Pin::new(&mut file), cx, &mut out)).await.unwrap();
            assert!(read > 0 && out[..read] == content[CHUNK + 107..CHUNK + 107 + read]);
        });
    }
}
