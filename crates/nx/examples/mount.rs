//! Mounts an archive on a folder until Enter is pressed. Needs Linux and the feature `mount`.
//!
//!     cargo run --release -p linerate-nx --features mount --example mount -- ARCHIVE FOLDER

#[cfg(target_os = "linux")]
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    use linerate_nx::mount::{Mount, MountOptions};
    use linerate_nx::shared::SharedArchive;
    use linerate_nx::{Archive, FileSource};

    let mut args = std::env::args().skip(1);
    let (Some(archive), Some(folder)) = (args.next(), args.next()) else {
        return Err("usage: mount ARCHIVE FOLDER".into());
    };
    let assets = SharedArchive::new(Archive::open(FileSource::open(archive)?)?)?;
    let mount = Mount::new(&assets, &folder, MountOptions::new().threads(2))?;
    println!("mounted on {folder}; Enter ends it");
    std::io::stdin().read_line(&mut String::new())?;
    mount.unmount()?;
    println!("{:?}", assets.cache().counters());
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn main() {
    eprintln!("archives can be mounted on Linux only");
}
